// How many decimals amounts have: after ISO 4217, and for other codes by the ledger's rule of the asset.
import {
  ServiceProblem,
  ServiceUnreachable,
  type LedgerClient,
} from "../../client/ledger-client.ts";
import { currencyExponent, currencyExponents } from "../../core/currencies.ts";
import type { Output } from "../terminal/output.ts";

/** How many decimals an amount of a code has. */
export type ExponentOf = (code: string) => number;

/** The exponents of a ledger's codes. The service is asked only for codes outside of ISO 4217, and only once for each. */
export class Exponents {
  readonly #client: LedgerClient;
  readonly #ledgerId: string;
  readonly #learnt = new Map(currencyExponents);

  constructor(client: LedgerClient, ledgerId: string) {
    this.#client = client;
    this.#ledgerId = ledgerId;
  }

  /** Has to come before `of` for each code. */
  async learn(codes: readonly string[]): Promise<void> {
    const unknown = codes.filter((code) => !this.#learnt.has(code));
    if (unknown.length === 0) return;
    const rules = await this.#client.listAssets(this.#ledgerId);
    const ruled = new Map(rules.map(({ assetCode, exponent }) => [assetCode, exponent]));
    for (const code of unknown) this.#learnt.set(code, ruled.get(code) ?? 0);
  }

  readonly of: ExponentOf = (code) => this.#learnt.get(code) ?? 0;
}

/**
 * The exponents with which amounts of these codes are shown: none with `--minor`. Where the rules can't be read, for example without the
 * scope, amounts are in smallest units, and a note says so: it is no failure of the command.
 */
export async function exponentsShown(
  { client, output }: { readonly client: LedgerClient; readonly output: Output },
  ledgerId: string,
  codes: readonly string[],
): Promise<ExponentOf> {
  const exponents = new Exponents(client, ledgerId);
  if (output.isMinor) return () => 0;
  if (output.isForPrograms) return exponents.of;
  try {
    await exponents.learn(codes);
  } catch (error) {
    if (!(error instanceof ServiceProblem || error instanceof ServiceUnreachable)) throw error;
    const unruled = [...new Set(codes)].filter((code) => !currencyExponents.has(code));
    output.note(
      `amounts of ${unruled.join(", ")} are in smallest units, as the rules of assets can't be read`,
    );
  }
  return exponents.of;
}

/** The exponent with which amounts of a currency are shown where nobody can be asked; 0 for one that is not known. */
export function exponentShownOffline(currency: string | null, output: Output): number {
  return output.isMinor ? 0 : currencyExponent(currency ?? "");
}

/**
 * A line above amounts from a file, which says of which codes they are in smallest units although nobody asked for that;
 * none where there are no such. Null is the currency of a bundle that does not name it.
 */
export function unitLinesOffline(codes: readonly (string | null)[], output: Output): string[] {
  const unruled = [...new Set(codes)].filter(
    (code) => code === null || !currencyExponents.has(code),
  );
  if (output.isMinor || unruled.length === 0) return [];
  const named = unruled.filter((code) => code !== null);
  return [
    named.length === 0
      ? "amounts      in smallest units: without entries, a bundle does not name its currency"
      : `amounts      of ${named.sort().join(", ")} in smallest units: the file has no rules of assets`,
  ];
}
