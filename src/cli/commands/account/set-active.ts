// What `account activate` and `account deactivate` do.
import type { Environment } from "../../../config.ts";
import { setAccountActive } from "../../../engine/accounts.ts";
import { listAccounts } from "../../../store/accounts.ts";
import { notFoundFailure } from "../../failure.ts";
import { suggestion } from "../../input/suggestion.ts";
import { onLedger, type LedgerFlags } from "../../connection/ledger-context.ts";
import { inUseFailure } from "./in-use-failure.ts";

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
      const known = (await listAccounts(pool, ledgerId, false)).map(
        ({ glAccountCode }) => glAccountCode,
      );
      throw notFoundFailure(`the ledger has no account ${code}${suggestion(code, known)}`);
    }
    output.result(change.account, () => `account ${code} is ${active ? "active" : "inactive"}`);
  });
}
