// Rates of exchange as somebody types them: `USD=0.9123`, major units of the functional currency for one major unit.
import { parseRate, type Rate } from "../../core/asset.ts";
import { usageFailure } from "../failure.ts";
import { refuseUnknownCurrency, type CurrencyFlags } from "./currency-guard.ts";
import { requireCurrency } from "./arguments.ts";

export interface GivenRate {
  /** As it was typed. */
  readonly text: string;
  readonly rate: Rate;
}

/** The rates of `--rate CUR=R`, by currency. Throws a usage failure; each currency has one. */
export function requireRates(
  texts: readonly string[],
  flags: CurrencyFlags,
): ReadonlyMap<string, GivenRate> {
  const rates = new Map<string, GivenRate>();
  for (const text of texts) {
    const equals = text.indexOf("=");
    if (equals < 1)
      throw usageFailure(`--rate must be CURRENCY=RATE, such as USD=0.9123, not ${text}`);
    const currency = requireCurrency("--rate", text.slice(0, equals));
    refuseUnknownCurrency("--rate", currency, flags);
    if (rates.has(currency)) throw usageFailure(`--rate names ${currency} twice`);
    rates.set(currency, requireRate("--rate", text.slice(equals + 1)));
  }
  return rates;
}

/** An exact decimal above zero, or a usage failure that names the argument. */
export function requireRate(argument: string, text: string): GivenRate {
  const rate = parseRate(text);
  if (rate === null) {
    throw usageFailure(
      `${argument} ${text}: a rate is an exact decimal above zero, such as 0.9123, of at most 38 digits before the ` +
        "point and 38 after it",
    );
  }
  return { text, rate };
}

/** The rate as a line keeps it, a JSON number; null where a number would not be exactly the rate. */
export function spotRateOf({ text }: GivenRate): number | null {
  const plain = text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
  // The shortest decimal of a double is what the API takes as its value.
  return String(Number(plain)) === plain ? Number(plain) : null;
}
