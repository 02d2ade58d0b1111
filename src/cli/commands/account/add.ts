// `account add`: one account.
import type { Environment } from "../../../config.ts";
import { accountTypes } from "../../../core/ledger.ts";
import { insertAccount } from "../../../store/accounts.ts";
import { requireLabel } from "../../input/arguments.ts";
import { isAccountType } from "../../input/chart-file.ts";
import { CommandFailure, exitCodes, usageFailure } from "../../failure.ts";
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
  const type = flags.type ?? null;
  if (type !== null && !isAccountType(type)) {
    throw usageFailure(`--type must be one of ${accountTypes.join(", ")}`);
  }
  await onLedger(flags, environment, async (ledgerId, { output, pool, now }) => {
    const account = { glAccountCode: code, name, type, active: true };
    const added = await insertAccount(pool, ledgerId, account, now());
    if (added === null) {
      throw new CommandFailure(
        `the ledger already has an account ${code}; \`ledgerctl account import\` renames accounts`,
        exitCodes.conflict,
      );
    }
    output.created(added, ({ glAccountCode }) => glAccountCode);
  });
}
