// What `account activate` and `account deactivate` do.
import type { Environment } from "../../../config.ts";
import { setAccountActive } from "../../../engine/accounts.ts";
import { listAccounts } from "../../../store/accounts.ts";
import { notFoundFailure } from "../../failure.ts";
import { suggestion } from "../../input/suggestion.ts";
import { onLedger, type LedgerFlags } from "../../connection/ledger-context.ts";
import { inUseFailure } from "./in-use-failure.ts";

/** Makes an account active or inactive, and prints it. */
export async function setActive(
  code: string,
  active: boolean,
  flags: LedgerFlags,
  environment: Environment,
): Promise<void> {
  await onLedger(flags, environment, async (ledgerId, { output, pool }) => {
    const change = await setAccountActive(pool, ledgerId, code, active);
    if (change.outcome === "accountInUse") throw inUseFailure(change);
    if (change.outcome === "accountNotFound") {
      const accounts = await listAccounts(pool, ledgerId, false);
      const known = accounts.map(({ glAccountCode }) => glAccountCode);
      throw notFoundFailure(`the ledger has no account ${code}${suggestion(code, known)}`);
    }
    output.result(change.account, () => `account ${code} is ${active ? "active" : "inactive"}`);
  });
}
