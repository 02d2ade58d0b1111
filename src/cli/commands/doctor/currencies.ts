// Whether a ledger's entries are in codes that look like currencies and are none.
import { ServiceProblem, type LedgerClient } from "../../../client/ledger-client.ts";
import { describeUnknownCurrencies } from "../../input/currency-guard.ts";
import { noted, passed, type Check } from "./check.ts";

/** Told only: a code of three letters may be meant. */
export async function checkCurrencies(client: LedgerClient, ledgerId: string): Promise<Check> {
  try {
    const { unknownCurrencies } = await client.getTrialBalance(ledgerId);
    const unknown = describeUnknownCurrencies(unknownCurrencies);
    return unknown === null
      ? passed("currencies", "no entry is in a code that only looks like a currency")
      : noted("currencies", unknown);
  } catch (error) {
    if (!(error instanceof ServiceProblem)) throw error;
    return noted("currencies", `can't be seen here: ${error.message}`);
  }
}
