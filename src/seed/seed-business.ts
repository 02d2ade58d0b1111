// The business of a seeded ledger: what its next entry is. It invoices customers at home and abroad, is paid,
// buys and pays, has a payroll, and makes mistakes that it reverses.
import { convert } from "../core/asset.ts";
import { currencyExponent } from "../core/currencies.ts";
import type { Entry, EntryDraft, Line } from "../core/journal.ts";
import type { JournalWrite } from "../core/journal-batch.ts";
import { timestampFromEpochMs, type Timestamp } from "../core/time.ts";
import {
  customers,
  euro,
  foreignCurrencies,
  functionalCurrency,
  suppliers,
  type ForeignCurrency,
} from "./seed-chart.ts";
import type { EntrySlot } from "./seed-schedule.ts";
import type { SeededRandom } from "./seeded-random.ts";

interface OpenInvoice {
  readonly number: string;
  readonly customer: string;
  readonly currency: ForeignCurrency | null;
  readonly receivable: Line;
  readonly entry: Entry;
}

interface OpenBill {
  readonly number: string;
  readonly supplier: string;
  readonly amount: bigint;
}

/** The most invoices that may be open; each is kept in memory with its entry. */
const openInvoicesMax = 20_000;

/** What to write, and the entry that a reversal reverses. */
export interface BusinessWrite {
  readonly write: JournalWrite;
  readonly original: Entry | null;
  /** Is called with the entry once it is made. */
  readonly made: (entry: Entry) => void;
}

export class SeedBusiness {
  readonly #random: SeededRandom;
  readonly #invoices: OpenInvoice[] = [];
  readonly #bills: OpenBill[] = [];
  readonly #rates = new Map(foreignCurrencies.map(({ code, rateMicros }) => [code, rateMicros]));
  readonly #numbers = new Map<string, number>();
  #periodStartMs = 0;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  /** Starts a period: everything dated before `startMs` is closed. */
  beginPeriod(startMs: number): void {
    this.#periodStartMs = startMs;
  }

  next(slot: EntrySlot): BusinessWrite {
    switch (slot.kind) {
      case "opening":
        return this.#simple(slot, "OPENING", "capital", "Founders' capital", [
          usd("1000", 25_000_000n),
          usd("1500", 3_600_000n),
          usd("3000", -28_600_000n),
        ]);
      case "rent":
        return this.#simple(slot, "STANDARD", "rent", "Rent", [
          usd("5100", 480_000n),
          usd("1000", -480_000n),
        ]);
      case "payroll":
        return this.#payroll(slot);
      case "depreciation":
        return this.#simple(slot, "ADJUSTING", "depreciation", "Depreciation of equipment", [
          usd("5600", 60_000n),
          usd("1510", -60_000n),
        ]);
      case "revaluation":
        return this.#revaluation(slot);
      case "trade":
        return this.#trade(slot);
    }
  }

  #trade(slot: EntrySlot): BusinessWrite {
    const roll = this.#random.below(100);
    const isPatient = this.#invoices.length < openInvoicesMax;
    if (roll < 44 && !isPatient) return this.#payment(slot) ?? this.#invoice(slot);
    if (roll < 30) return this.#invoice(slot);
    if (roll < 44) return this.#foreignInvoice(slot);
    if (roll < 72) return this.#payment(slot) ?? this.#invoice(slot);
    if (roll < 84) return this.#bill(slot);
    if (roll < 94) return this.#billPayment(slot) ?? this.#bill(slot);
    if (roll < 98) return this.#bankFee(slot);
    return this.#reversal() ?? this.#invoice(slot);
  }

  #invoice(slot: EntrySlot): BusinessWrite {
    const customer = this.#random.pick(customers);
    const number = this.#number("INV");
    const net = BigInt(this.#random.between(2_000, 480_000));
    const tax = (net * 825n) / 10_000n;
    const lines = [
      usd("1100", net + tax, number),
      usd(this.#revenueAccount(), -net),
      usd("2200", -tax),
    ];
    return this.#invoiceEntry(slot, { number, customer, currency: null }, lines);
  }

  #foreignInvoice(slot: EntrySlot): BusinessWrite {
    const customer = this.#random.pick(customers);
    const currency = this.#random.pick(foreignCurrencies);
    const number = this.#number("INV");
    const units = Math.floor(this.#random.between(5_000, 900_000) * currency.unitsPerCent);
    const amount = BigInt(units);
    const revenueAccount = this.#revenueAccount();
    const micros = this.#moveRate(currency);
    const value = functionalOf(amount, currency, micros);
    const lines = [
      foreign(currency, "1100", amount, value, micros, number),
      foreign(currency, revenueAccount, -amount, -value, micros),
    ];
    return this.#invoiceEntry(slot, { number, customer, currency }, lines);
  }

  #invoiceEntry(
    slot: EntrySlot,
    invoice: Pick<OpenInvoice, "number" | "customer" | "currency">,
    lines: readonly Line[],
  ): BusinessWrite {
    const [receivable] = lines;
    if (receivable === undefined) throw new Error("an invoice has a receivable");
    const { number, customer } = invoice;
    const content = {
      ...{ externalId: number, eventType: "INVOICE", description: `${number} to ${customer}` },
      metadata: { customer, number, dueInDays: this.#random.pick([14, 30, 60]) },
      lines,
    };
    return entryWrite(slot, content, (entry) => {
      this.#invoices.push({ ...invoice, receivable, entry });
    });
  }

  /** Pays an open invoice. Abroad, at the day's rate, this makes a gain or a loss. */
  #payment(slot: EntrySlot): BusinessWrite | null {
    const invoice = this.#take(this.#invoices);
    if (invoice === null) return null;
    const { number, customer, currency, receivable } = invoice;
    const lines =
      currency === null ? this.#paidAtHome(receivable) : this.#paidAbroad(receivable, currency);
    return entryWrite(slot, {
      externalId: `PAY-${number}`,
      eventType: "PAYMENT",
      description: `${customer} paid ${number}`,
      metadata: { invoice: number },
      lines,
    });
  }

  #paidAtHome({ functionalAmount: due }: Line): readonly Line[] {
    const isByCard = this.#random.happens(25);
    const fee = isByCard ? (due * 29n) / 1_000n : 0n;
    const received = [usd("1000", due - fee), usd("1100", -due)];
    return fee === 0n ? received : [...received, usd("5500", fee, "card fee")];
  }

  #paidAbroad(receivable: Line, currency: ForeignCurrency): readonly Line[] {
    const { transactionAmount, functionalAmount } = receivable;
    const micros = this.#moveRate(currency);
    const received = functionalOf(transactionAmount, currency, micros);
    const gain = received - functionalAmount;
    const lines = [
      foreign(currency, currency.bankAccount, transactionAmount, received, micros),
      foreign(currency, "1100", -transactionAmount, -functionalAmount, null),
    ];
    return gain === 0n ? lines : [...lines, usd("7000", -gain)];
  }

  #bill(slot: EntrySlot): BusinessWrite {
    const { name: supplier, expense } = this.#random.pick(suppliers);
    const number = this.#number("BILL");
    const amount = BigInt(this.#random.between(900, 220_000));
    const content = {
      ...{ externalId: number, eventType: "BILL", description: `${supplier}, ${number}` },
      metadata: { supplier },
      lines: [usd(expense, amount), usd("2000", -amount, number)],
    };
    return entryWrite(slot, content, () => {
      this.#bills.push({ number, supplier, amount });
    });
  }

  #billPayment(slot: EntrySlot): BusinessWrite | null {
    const bill = this.#take(this.#bills);
    if (bill === null) return null;
    const { number, supplier, amount } = bill;
    return entryWrite(slot, {
      externalId: `PAY-${number}`,
      eventType: "BILL_PAYMENT",
      description: `Paid ${supplier}`,
      metadata: { bill: number },
      lines: [usd("2000", amount, number), usd("1000", -amount)],
    });
  }

  #bankFee(slot: EntrySlot): BusinessWrite {
    const fee = BigInt(this.#random.between(150, 4_500));
    return this.#simple(slot, "STANDARD", "fee", "Bank fee", [usd("5500", fee), usd("1000", -fee)]);
  }

  #payroll(slot: EntrySlot): BusinessWrite {
    let gross = 0n;
    for (let employee = 0; employee < 12; employee += 1) {
      gross += BigInt(this.#random.between(180_000, 420_000));
    }
    const withheld = (gross * 22n) / 100n;
    const employer = (gross * 765n) / 10_000n;
    return this.#simple(slot, "STANDARD", "payroll", "Payroll of 12", [
      usd("5200", gross, "gross"),
      usd("5210", employer),
      usd("2100", -(withheld + employer), "withheld, and the employer's part"),
      usd("1000", -(gross - withheld), "net"),
    ]);
  }

  /** Revalues open receivables in euros: their dollars change, their euros do not. */
  #revaluation(slot: EntrySlot): BusinessWrite {
    const change =
      BigInt(this.#random.between(1_000, 9_000)) * (this.#random.happens(50) ? 1n : -1n);
    return this.#simple(slot, "ADJUSTING", "revaluation", "Revaluation of EUR receivables", [
      foreign(euro, "1100", 0n, change, this.#moveRate(euro)),
      usd("7000", -change),
    ]);
  }

  /** Reverses an unpaid invoice of this period, as a mistake. */
  #reversal(): BusinessWrite | null {
    const invoice = this.#take(
      this.#invoices,
      ({ entry }) => Date.parse(entry.transactionDate) >= this.#periodStartMs,
    );
    if (invoice === null) return null;
    const { number, entry } = invoice;
    const draft = {
      entryId: entry.journalId,
      externalId: `REV-${number}`,
      description: `${number} was billed twice`,
      metadata: {},
      transactionDate: null,
    };
    return { write: { kind: "reversal", draft }, original: entry, made: () => undefined };
  }

  /** A recurring entry: only its number and amounts differ from the one before. */
  #simple(
    slot: EntrySlot,
    entryType: EntryDraft["entryType"],
    label: string,
    description: string,
    lines: readonly Line[],
  ): BusinessWrite {
    return entryWrite(slot, {
      externalId: this.#number(label),
      eventType: label.toUpperCase(),
      description,
      metadata: {},
      lines,
      entryType,
    });
  }

  /** Moves a rate by a small step, never further than a tenth from where it began. */
  #moveRate({ code, rateMicros }: ForeignCurrency): number {
    const step = Math.max(1, Math.floor(rateMicros / 2_000));
    const moved = (this.#rates.get(code) ?? rateMicros) + this.#random.between(-step, step);
    const tenth = Math.floor(rateMicros / 10);
    const micros = Math.min(rateMicros + tenth, Math.max(rateMicros - tenth, moved));
    this.#rates.set(code, micros);
    return micros;
  }

  #revenueAccount(): string {
    return this.#random.happens(65) ? "4000" : "4100";
  }

  /** Removes and returns one item that fits; the last item takes its place. */
  #take<Item>(items: Item[], fits: (item: Item) => boolean = () => true): Item | null {
    const index = this.#random.below(items.length);
    const taken = items[index];
    const last = items.at(-1);
    if (taken === undefined || last === undefined || !fits(taken)) return null;
    items[index] = last;
    items.pop();
    return taken;
  }

  #number(label: string): string {
    const number = (this.#numbers.get(label) ?? 0) + 1;
    this.#numbers.set(label, number);
    return `${label}-${String(number).padStart(6, "0")}`;
  }
}

function entryWrite(
  { atMs }: EntrySlot,
  content: Pick<EntryDraft, "externalId" | "eventType" | "description" | "metadata" | "lines"> &
    Partial<Pick<EntryDraft, "entryType">>,
  made: (entry: Entry) => void = () => undefined,
): BusinessWrite {
  const draft: EntryDraft = {
    entryType: "STANDARD",
    ...content,
    originSystem: "seed",
    originAccount: null,
    transactionDate: timestampOf(atMs),
  };
  return { write: { kind: "entry", draft }, original: null, made };
}

export function timestampOf(epochMs: number): Timestamp {
  const timestamp = timestampFromEpochMs(epochMs);
  if (timestamp === null) throw new Error("a seed's times are within the years that we keep");
  return timestamp;
}

function usd(glAccountCode: string, amount: bigint, description: string | null = null): Line {
  return {
    ...{ glAccountCode, description, functionalAmount: amount, transactionAmount: amount },
    transactionCurrency: functionalCurrency,
    functionalCurrency,
    spotRate: null,
  };
}

function foreign(
  { code }: ForeignCurrency,
  glAccountCode: string,
  transactionAmount: bigint,
  functionalAmount: bigint,
  rateMicros: number | null,
  description: string | null = null,
): Line {
  return {
    ...{ glAccountCode, description, transactionAmount, functionalAmount, functionalCurrency },
    transactionCurrency: code,
    spotRate: rateMicros === null ? null : rateMicros / 1_000_000,
  };
}

/** Cents for smallest units of a currency, at millionths of a dollar for its major unit. */
function functionalOf(amount: bigint, { code }: ForeignCurrency, rateMicros: number): bigint {
  const numerator = BigInt(rateMicros) * 10n ** BigInt(currencyExponent(functionalCurrency));
  const denominator = 1_000_000n * 10n ** BigInt(currencyExponent(code));
  return convert(amount, { numerator, denominator });
}
