// The exponents of currencies: how many decimals their smallest unit is, after ISO 4217. Shipped, because
// the runtime's locale data says how prices are written, not what the unit is (HUF, IDR, COP, IQD differ).

/**
 * ISO 4217, list one, as of January 2026. ANG, BGN and CUC left the list in 2025 and 2026; ledgers of
 * earlier years still have them.
 */
const codesByExponent: readonly (readonly [exponent: number, codes: string])[] = [
  [0, "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF"],
  [
    2,
    `AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD
     CAD CDF CHE CHF CHW CNY COP COU CRC CUC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL
     GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD
     LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN
     PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB
     TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG`,
  ],
  [3, "BHD IQD JOD KWD LYD OMR TND"],
  [4, "CLF UYW"],
  // Metals, funds and codes for testing have no smaller unit ("N.A." in the list).
  [0, "XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX"],
];

/** Every code of the list with its exponent. */
export const currencyExponents: ReadonlyMap<string, number> = new Map(
  codesByExponent.flatMap(([exponent, codes]) =>
    codes.split(/\s+/).map((code) => [code, exponent] as const),
  ),
);

/** Of some codes, those of three letters that are no ISO 4217 currency in either case: often typing errors. */
export function unknownCurrencies(codes: readonly string[]): string[] {
  return codes.filter(
    (code) => /^[A-Za-z]{3}$/.test(code) && !currencyExponents.has(code.toUpperCase()),
  );
}

/** How many decimals an amount in this currency has; 0 for a code outside the list. */
export function currencyExponent(code: string): number {
  return currencyExponents.get(code) ?? 0;
}
