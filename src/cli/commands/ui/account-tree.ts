// The chart of accounts as a tree: by type, then by the codes that others begin with, with sums of what is below. Pure.
import { compareUtf8 } from "../../../core/text.ts";

export interface AccountFigures {
  readonly glAccountCode: string;
  readonly name: string;
  readonly active: boolean;
  readonly type: string | null;
  /** Smallest unit of the ledger's currency, debits positive. */
  readonly balance: bigint;
}

/** A node of the tree: a type, a part of codes that no account has by itself, or an account. */
export interface TreeNode {
  /** Of its row, once in the tree. */
  readonly key: string;
  /** What it is called below its parent. */
  readonly title: string;
  readonly account: AccountFigures | null;
  /** Of the account and of all that are below. */
  readonly total: bigint;
  readonly children: readonly TreeNode[];
}

/** A node as a row of a list. */
export interface TreeRow {
  readonly node: TreeNode;
  readonly depth: number;
  readonly isCollapsed: boolean;
}

const typeTitles: readonly (readonly [type: string | null, title: string])[] = [
  ["asset", "Assets"],
  ["liability", "Liabilities"],
  ["equity", "Equity"],
  ["income", "Income"],
  ["expense", "Expenses"],
  [null, "Without a type"],
];

/** Types in the order of statements, those without accounts left out. */
export function accountTree(accounts: readonly AccountFigures[]): TreeNode[] {
  return typeTitles.flatMap(([type, title]) => {
    const members = accounts
      .filter((account) => account.type === type)
      .sort((left, right) => compareUtf8(sortKey(left), sortKey(right)));
    if (members.length === 0) return [];
    return [nodeOf(`type:${type ?? ""}`, title, null, nodesOf(members, type ?? ""))];
  });
}

/** What is below a code comes before codes that only begin alike: `a:b` before `a-b`. */
function sortKey({ glAccountCode }: AccountFigures): string {
  return glAccountCode.replaceAll(":", "\0");
}

interface Draft {
  readonly code: string;
  readonly title: string;
  readonly account: AccountFigures | null;
  readonly children: Draft[];
}

/** In one pass: codes are in order, so that what is below a code comes right after it. */
function nodesOf(accounts: readonly AccountFigures[], type: string): TreeNode[] {
  const roots: Draft[] = [];
  const path: Draft[] = [];
  const add = (code: string, account: AccountFigures | null) => {
    const parent = path.at(-1);
    const isPart = parent !== undefined && code.startsWith(`${parent.code}:`);
    const title = (isPart && code.slice(parent.code.length + 1)) || code;
    const draft: Draft = { code, title, account, children: [] };
    (parent?.children ?? roots).push(draft);
    path.push(draft);
  };
  for (const account of accounts) {
    const code = account.glAccountCode;
    while (path.length > 0 && !isBelow(code, path.at(-1)?.code ?? "")) path.pop();
    // Parts of the code that no account has: `assets:bank` of `assets:bank:giro`.
    const known = path.at(-1)?.code ?? "";
    for (let at = code.indexOf(":", known.length + 1); at > 0; at = code.indexOf(":", at + 1)) {
      add(code.slice(0, at), null);
    }
    add(code, account);
  }
  return roots.map((draft) => finished(draft, type));
}

/** By a colon, or among numbers by their digits: 1100 is below 11. */
function isBelow(code: string, above: string): boolean {
  if (!code.startsWith(above)) return false;
  return code.charAt(above.length) === ":" || /^[0-9]+$/.test(code);
}

function finished({ code, title, account, children }: Draft, type: string): TreeNode {
  const below = children.map((child) => finished(child, type));
  return nodeOf(`${type}/${code}`, title, account, below);
}

function nodeOf(
  key: string,
  title: string,
  account: AccountFigures | null,
  children: readonly TreeNode[],
): TreeNode {
  const total = children.reduce((sum, child) => sum + child.total, account?.balance ?? 0n);
  return { key, title, account, total, children };
}

/**
 * The rows that are seen: with a search, the nodes that have it in code or name, and those above them; else all that
 * is not below a collapsed one.
 */
export function treeRows(
  nodes: readonly TreeNode[],
  collapsed: ReadonlySet<string>,
  search: string,
): TreeRow[] {
  const rows: TreeRow[] = [];
  const visit = (node: TreeNode, depth: number): boolean => {
    const place = rows.length;
    const isCollapsed = search === "" && collapsed.has(node.key);
    rows.push({ node, depth, isCollapsed });
    let isSeen = search === "" || isFound(node, search);
    if (!isCollapsed) for (const child of node.children) isSeen = visit(child, depth + 1) || isSeen;
    if (!isSeen) rows.length = place;
    return isSeen;
  };
  for (const node of nodes) visit(node, 0);
  return rows;
}

function isFound({ account, title }: TreeNode, search: string): boolean {
  const texts = account === null ? [title] : [account.glAccountCode, account.name];
  return texts.some((text) => holdsText(text, search));
}

/** Whether a text holds another, without regard to case or to how accents are written. */
export function holdsText(text: string, search: string): boolean {
  const plain = (value: string) => value.normalize("NFKC").toLowerCase();
  return plain(text).includes(plain(search));
}
