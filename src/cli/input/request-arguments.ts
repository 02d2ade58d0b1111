// Arguments of commands that make a request of their own: its target and its body.
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { usageFailure } from "../failure.ts";
import { findJsonFault, memberName } from "./entry-files/json-fault.ts";
import { fileFailureReason } from "./file-failure.ts";

/** A request target begins with a slash and has only characters that may stand on a request line. */
export function requireTarget(target: string): void {
  if (!/^\/[!-~]*$/.test(target)) {
    throw usageFailure(
      "TARGET must be a path such as /v1/ledgers, with all but ASCII percent-encoded",
    );
  }
}

export interface BodyFlags {
  body?: string;
  data?: readonly string[];
}

/**
 * The body that flags describe: JSON itself where it begins with { or [, the bytes of a file, of stdin (`-`), an object of
 * `--data`, or none.
 */
export async function readBody({ body: file, data }: BodyFlags): Promise<Buffer> {
  if (data !== undefined && file !== undefined) {
    throw usageFailure("--data and --body exclude each other");
  }
  if (data !== undefined) return Buffer.from(objectOf(data));
  if (file === undefined) return Buffer.alloc(0);
  // Byte for byte. A slip is told here, where it is seen best.
  if (/^[{[]/.test(file)) return Buffer.from(requireJson("--body", file));
  if (file === "-") return buffer(process.stdin);
  try {
    return await readFile(file);
  } catch (error) {
    throw usageFailure(`--body: ${file} can't be read: ${fileFailureReason(error)}`);
  }
}

/** An object as JSON: `key=text` is a text, `key:=json` any JSON as it stands, `a.b=c` a member of the object `a`. */
function objectOf(pairs: readonly string[]): string {
  const root: Members = new Map();
  for (const pair of pairs) {
    const [, path = "", sign = "", text = ""] = /^([^=:]+)(:?=)([^]*)$/.exec(pair) ?? [];
    const names = path.split(".");
    if (names.includes("")) {
      throw usageFailure(`--data must be KEY=TEXT or KEY:=JSON, not ${pair}`);
    }
    const last = names.pop() ?? "";
    let members = root;
    for (const name of names) {
      const inner = members.get(name) ?? new Map<string, Members | string>();
      if (typeof inner === "string") throw usageFailure(`--data ${path}: ${name} is no object`);
      members.set(name, inner);
      members = inner;
    }
    if (members.has(last)) throw usageFailure(`--data names ${path} twice`);
    members.set(last, sign === "=" ? JSON.stringify(text) : requireJson(`--data ${path}`, text));
  }
  return objectText(root);
}

/** Of an object that is being put together; a text is JSON. */
type Members = Map<string, Members | string>;

function objectText(members: Members): string {
  const texts = [...members].map(
    ([name, value]) =>
      `${JSON.stringify(name)}:${typeof value === "string" ? value : objectText(value)}`,
  );
  return `{${texts.join(",")}}`;
}

function requireJson(argument: string, text: string): string {
  const broken = findJsonFault(text);
  if (broken === null) return text;
  const member = memberName(broken.path);
  throw usageFailure(
    `${argument} is no JSON: ${member === "" ? "" : `${member}: `}${broken.reason}`,
  );
}
