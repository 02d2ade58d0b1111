// `account add`: one account.
import type { Environment } from "../../../config.ts";
import { accountTypes, type Account } from "../../../core/ledger.ts";
import { insertAccount } from "../../../store/accounts.ts";
import { requireLabel, requireOneOf } from "../../input/arguments.ts";
import { CommandFailure, exitCodes } from "../../failure.ts";
import type { Output } from "../../terminal/output.ts";
import { administerLedger, type AdministrationFlags } from "../../connection/administration.ts";

export type AddAccountFlags = AdministrationFlags & { type?: string };

export async function addAccount(
  code: string,
  name: string,
  flags: AddAccountFlags,
  environment: Environment,
): Promise<void> {
  requireLabel("CODE", code);
  requireLabel("NAME", name);
  const type = flags.type === undefined ? null : requireOneOf("--type", flags.type, accountTypes);
  const account = { glAccountCode: code, name, type, active: true };
  await administerLedger(flags, environment, {
    onService: async (ledgerId, { output, client }) => {
      const accounts = await client.listAccounts(ledgerId);
      // The API renames an account that is there.
      if (accounts.some(({ glAccountCode }) => glAccountCode === code)) throw takenFailure(code);
      const [added = account] = await client.importAccounts(ledgerId, [account]);
      print(output, added);
    },
    onDatabase: async (ledgerId, { output, pool, now }) => {
      const added = await pool.transaction((transaction) =>
        insertAccount(transaction, ledgerId, account, now()),
      );
      if (added === null) throw takenFailure(code);
      print(output, added);
    },
  });
}

function print(output: Output, added: Account): void {
  output.created(added, ({ glAccountCode }) => glAccountCode);
  if (added.type !== null) return;
  output.note(
    `account ${added.glAccountCode} has no type: statements list it apart, and close-accounts and revalue leave it out. ` +
      "`ledgerctl account import` gives it one.",
  );
}

function takenFailure(code: string): CommandFailure {
  return new CommandFailure(
    `the ledger already has an account ${code}; \`ledgerctl account import\` renames accounts`,
    exitCodes.conflict,
  );
}
