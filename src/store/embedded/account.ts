// Which user PostgreSQL runs as: this process's own, or an unprivileged one when this process is root.
import { readFile, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname } from "node:path";
import { DatabaseUnavailable } from "../database-unavailable.ts";
import type { Owner } from "./durable-file.ts";

const accountNames = ["ledgerctl", "postgres", "nobody"];

export interface Account extends Owner {
  /** Null where it is a number alone, as in a container that is given any user id. */
  name: string | null;
}

export function runsAsRoot(): boolean {
  return process.getuid?.() === 0;
}

/**
 * The user to drop to, undefined when there is nothing to drop. Whoever owns the cluster or the data
 * folder comes first: PostgreSQL insists on owning its files, and later starts may not be root's.
 */
export async function databaseAccount(owner: Owner): Promise<Account | undefined> {
  if (!runsAsRoot()) return undefined;
  const accounts = parsePasswd(await readFile("/etc/passwd", "utf8"));
  if (owner.uid !== 0) {
    const known = accounts.find((account) => account.uid === owner.uid);
    return known ?? { name: null, uid: owner.uid, gid: owner.gid };
  }
  for (const name of accountNames) {
    const account = accounts.find((each) => each.name === name && each.uid !== 0);
    if (account) return account;
  }
  throw new DatabaseUnavailable(
    `PostgreSQL refuses to run as root, and none of the users ${accountNames.join(", ")} exists to run it. ` +
      "Add one (useradd --system ledgerctl), start ledgerctl as an ordinary user, or name a PostgreSQL server with --database-url.",
  );
}

/** Whether the user who runs PostgreSQL has no name. */
export function isNameless(account: Account | undefined): boolean {
  if (account !== undefined) return account.name === null;
  try {
    userInfo();
    return false;
  } catch {
    return true;
  }
}

/** True when the account may walk from / into `dir`, going by owners and mode bits. */
export async function canEnter(account: Account, dir: string): Promise<boolean> {
  const found = await stat(dir);
  const bit = found.uid === account.uid ? 0o100 : found.gid === account.gid ? 0o010 : 0o001;
  if ((found.mode & bit) === 0) return false;
  return dir === "/" || (await canEnter(account, dirname(dir)));
}

function parsePasswd(text: string): Account[] {
  return text.split("\n").flatMap((line) => {
    const [name, , uid, gid] = line.split(":");
    if (name === undefined || !/^\d+$/.test(uid ?? "") || !/^\d+$/.test(gid ?? "")) return [];
    return [{ name, uid: Number(uid), gid: Number(gid) }];
  });
}
