// Accounts that somebody names: what a mistyped code may have meant, and that lines can be on no inactive account.
import { ServiceProblem, type Account, type LedgerClient } from "../../client/ledger-client.ts";
import { HintedFailure, notFoundFailure, usageFailure } from "../failure.ts";
import { suggestion } from "./suggestion.ts";

/** The account of a chart that an argument names, for lines on it. Throws a failure that names the argument. */
export function requireActiveAccount(
  accounts: readonly Account[],
  argument: string,
  code: string,
): Account {
  const account = accounts.find(({ glAccountCode }) => glAccountCode === code);
  if (account === undefined) {
    const known = accounts.map(({ glAccountCode }) => glAccountCode);
    throw notFoundFailure(
      `${argument}: the ledger has no account ${code}${suggestion(code, known)}`,
    );
  }
  if (account.active) return account;
  throw usageFailure(`${argument}: account ${code} is inactive; ${activation}`);
}

const activation = "`ledgerctl account activate CODE` makes an account active again";

/**
 * Resolves with what `act` does. Where the service refuses it and the ledger has no account with one of the codes,
 * the failure says which accounts have a similar one; where it refuses lines on inactive ones, what makes them active.
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
    const hints = [...suggestions(codes, accounts), ...activations(error, codes, accounts)];
    throw hints.length === 0 ? error : new HintedFailure(error, hints.join(" "));
  }
}

function suggestions(codes: readonly string[], accounts: readonly Account[]): string[] {
  const known = accounts.map(({ glAccountCode }) => glAccountCode);
  return [...new Set(codes)]
    .filter((code) => !known.includes(code))
    .map((code) => suggestion(code, known).trim())
    .filter((line) => line !== "");
}

/** What to do where the service refuses the accounts of lines, and one of them is inactive. */
function activations(
  { problem: { errors = [] } }: ServiceProblem,
  codes: readonly string[],
  accounts: readonly Account[],
): string[] {
  const isOfLines = errors.some(({ pointer }) => pointer?.endsWith("/glAccountCode"));
  const isInactive = accounts.some(
    ({ glAccountCode, active }) => !active && codes.includes(glAccountCode),
  );
  return isOfLines && isInactive ? [activation] : [];
}
