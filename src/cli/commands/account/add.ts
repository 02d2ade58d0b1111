// `account add`: one account.
import type { Environment } from "../../../config.ts";
import { accountTypes } from "../../../core/ledger.ts";
import { insertAccount } from "../../../store/accounts.ts";
import { requireLabel, requireOneOf } from "../../input/arguments.ts";
import { CommandFailure, exitCodes } from "../../failure.ts";
import { onLedger, type LedgerFlags } from "../../connection/ledger-context.ts";

export interface AddAccountFlags extends LedgerFlags {
  type?: string;
}

export async function addAccount(
  code: string,
  name: string,
  flags: AddAccountFlags,
  environment: Environment,
): Promise<void> {
  requireLabel("CODE", code);
  requireLabel("NAME", name);
  const type = flags.type === undefined ? null : requireOneOf("--type", flags.type, accountTypes);
  await onLedger(flags, environment, async (ledgerId, { output, pool, now }) => {
    const account = { glAccountCode: code, name, type, active: true };
    const added = await pool.transaction((transaction) =>
      insertAccount(transaction, ledgerId, account, now()),
    );
    if (added === null) {
      throw new CommandFailure(
        `the ledger already has an account ${code}; \`ledgerctl account import\` renames accounts`,
        exitCodes.conflict,
      );
    }
    output.created(added, ({ glAccountCode }) => glAccountCode);
  });
}
