// The groups that the API's routes are described in, by the part of the path that says what they are about.

/** Titles and what is in them, in the order of the page; other parts make a group of their own. */
const groups: Readonly<Record<string, readonly [title: string, description: string]>> = {
  ledgers: ["Ledgers", "Ledgers of the key's organization, their accounts, assets and balances"],
  "journal-entries": ["Journal entries", "Posting, reversing and reading entries"],
  "period-closes": [
    "Period closes",
    "Closing periods, and what proves that an entry is in a close",
  ],
  logs: ["Transparency logs", "Signed checkpoints of the journal and of the closes, with proofs"],
  deliveries: ["Deliveries", "Events that are sent to URLs"],
  wallets: ["Wallets", "Writing, holding, reading and streaming wallets"],
};

/** Parts of a path that belong to a group of another name. */
const groupOf: Readonly<Record<string, string>> = {
  accounts: "ledgers",
  assets: "ledgers",
  balances: "ledgers",
  "trial-balance": "ledgers",
  "wallet-writes": "wallets",
  "wallet-transfers": "wallets",
};

interface Tagged {
  readonly path: string;
}

/** The title of the group that a route is in. */
export function tagOf({ path }: Tagged): string {
  const [, , kind = "", , part] = path.split("/");
  const name = part === undefined || kind === "wallets" ? kind : (groupOf[part] ?? part);
  return groups[name]?.[0] ?? titled(name);
}

/** All groups that routes are in, those with a known place first. */
export function tagsOf(routes: readonly Tagged[]): { name: string; description: string }[] {
  const used = [...new Set(routes.map(tagOf))];
  const known = Object.values(groups).filter(([title]) => used.includes(title));
  const others = used.filter((tag) => known.every(([title]) => title !== tag));
  return [
    ...known.map(([name, description]) => ({ name, description })),
    ...others.map((name) => ({ name, description: `${name} of a ledger` })),
  ];
}

/** `deliveries` is `Deliveries`. */
function titled(part: string): string {
  return part.charAt(0).toUpperCase() + part.slice(1).replaceAll("-", " ");
}
