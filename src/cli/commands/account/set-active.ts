// What `account activate` and `account deactivate` do.
import type { Environment } from "../../../config.ts";
import type { Account } from "../../../core/ledger.ts";
import { setAccountActive } from "../../../engine/accounts.ts";
import { listAccounts } from "../../../store/accounts.ts";
import { notFoundFailure, type CommandFailure } from "../../failure.ts";
import { suggestion } from "../../input/suggestion.ts";
import { administerLedger, type AdministrationFlags } from "../../connection/administration.ts";
import type { Output } from "../../terminal/output.ts";
import { inUseFailure } from "./in-use-failure.ts";

/** Makes an account active or inactive, and prints it. */
export async function setActive(
  code: string,
  active: boolean,
  flags: AdministrationFlags,
  environment: Environment,
): Promise<void> {
  const print = (output: Output, account: Account) => {
    output.result(account, () => `account ${code} is ${active ? "active" : "inactive"}`);
  };
  await administerLedger(flags, environment, {
    onService: async (ledgerId, { output, client }) => {
      const accounts = await client.listAccounts(ledgerId);
      const account = accounts.find(({ glAccountCode }) => glAccountCode === code);
      if (account === undefined) throw unknownFailure(code, accounts);
      const [changed = account] = await client.importAccounts(ledgerId, [{ ...account, active }]);
      print(output, changed);
    },
    onDatabase: async (ledgerId, { output, pool }) => {
      const change = await setAccountActive(pool, ledgerId, code, active);
      if (change.outcome === "accountsInUse") throw inUseFailure(change);
      if (change.outcome === "accountNotFound") {
        throw unknownFailure(code, await listAccounts(pool, ledgerId, false));
      }
      print(output, change.account);
    },
  });
}

function unknownFailure(code: string, accounts: readonly Account[]): CommandFailure {
  const known = accounts.map(({ glAccountCode }) => glAccountCode);
  return notFoundFailure(`the ledger has no account ${code}${suggestion(code, known)}`);
}
