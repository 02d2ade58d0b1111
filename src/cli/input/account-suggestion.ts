// What somebody who mistyped an account's code may have meant.
import { ServiceProblem, type LedgerClient } from "../../client/ledger-client.ts";
import { HintedFailure } from "../failure.ts";
import { suggestion } from "./suggestion.ts";

/**
 * Resolves with what `act` does. Where the service refuses it and the ledger has no account with one of the codes,
 * the failure says which accounts have a similar one.
 */
export async function suggestingAccounts<Result>(
  { client, ledgerId, codes }: { client: LedgerClient; ledgerId: string; codes: readonly string[] },
  act: () => Promise<Result>,
): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    // Only what is about the request may be about an account.
    if (!(error instanceof ServiceProblem) || ![400, 404].includes(error.status)) throw error;
    const accounts = await client.listAccounts(ledgerId).catch(() => []);
    const known = accounts.map(({ glAccountCode }) => glAccountCode);
    const hint = [...new Set(codes)]
      .filter((code) => !known.includes(code))
      .map((code) => suggestion(code, known).trim())
      .filter((line) => line !== "")
      .join(" ");
    throw hint === "" ? error : new HintedFailure(error, hint);
  }
}
