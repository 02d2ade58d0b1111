// `period diff`: two closes side by side, each from the service or from a bundle: the accounts whose figures differ.
import { statSync } from "node:fs";
import type { LedgerClient } from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import {
  movedBalances,
  type BalanceRow,
  type CloseRecord,
  type MovedBalance,
} from "../../../core/close.ts";
import { wireMovedBalance } from "../../../http/handlers/wire-balances.ts";
import { balanceRowOf } from "../../../verify/documents.ts";
import { type CloseVerdict } from "../../../verify/verdict.ts";
import {
  exponentShownOffline,
  exponentsShown,
  unitLinesOffline,
} from "../../connection/exponents.ts";
import { withService } from "../../connection/service-context.ts";
import { exitCodes, usageFailure, type ExitCode } from "../../failure.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import { Output } from "../../terminal/output.ts";
import { checkBundleFile, readCloseRecord } from "../merkle/check-close.ts";
import { findingLines } from "../merkle/verdict.ts";
import { findClose } from "./find-close.ts";

/** A close, and where it comes from. */
interface Side {
  /** As it was named. */
  readonly source: string;
  readonly record: CloseRecord;
  readonly balances: readonly BalanceRow[];
  /** Null where nothing says it: a bundle without entries. */
  readonly currency: string | null;
  readonly exponent: number;
  /** Of a bundle. */
  readonly verdict: CloseVerdict | null;
}

type Sides = readonly [a: Side, b: Side];

export async function diffPeriods(
  a: string,
  b: string,
  flags: ServiceFlags,
  environment: Environment,
): Promise<ExitCode> {
  if (a === "-" && b === "-") throw usageFailure("stdin is there once: - is given twice");
  const output = new Output(flags, environment.isColorRefused);
  const sides = await readSides([a, b], flags, { environment, output });
  const moved = movedBalances(sides[0].balances, sides[1].balances);
  const findings = sides.flatMap(({ source, verdict }) =>
    (verdict?.findings ?? []).map(({ where, what }) => ({ where: `${source}: ${where}`, what })),
  );
  const ok = findings.length === 0;
  const [first, second] = sides;
  const document = {
    ok,
    a: { source: first.source, ...first.record },
    b: { source: second.source, ...second.record },
    accounts: moved.map((row) => {
      const { glAccountCode, stored, live } = wireMovedBalance(row);
      return { glAccountCode, a: stored, b: live };
    }),
    findings,
  };
  output.result(document, () => describe(output, sides, moved));
  if (!ok) output.warn(output.judged(findingLines(findings, findings.length).join("\n")));
  return ok ? exitCodes.done : exitCodes.verificationFailed;
}

/** The service is asked only where a side is none of a file. */
async function readSides(
  [a, b]: readonly [string, string],
  flags: ServiceFlags,
  { environment, output }: { readonly environment: Environment; readonly output: Output },
): Promise<Sides> {
  if (isBundle(a) && isBundle(b)) {
    return [await readBundle(a, output), await readBundle(b, output)];
  }
  return withService(flags, environment, async ({ client, ledgerId }) => {
    const read = (name: string) =>
      isBundle(name) ? readBundle(name, output) : readClose({ client, output }, ledgerId(), name);
    return [await read(a), await read(b)];
  });
}

/** A folder may be called as a period is. */
function isBundle(name: string): boolean {
  if (name === "-" || name.endsWith(".ndjson")) return true;
  return statSync(name, { throwIfNoEntry: false })?.isDirectory() === false;
}

async function readBundle(file: string, output: Output): Promise<Side> {
  const { record, balances, verdict } = await checkBundleFile(file);
  const currency = verdict.functionalCurrency;
  const exponent = exponentShownOffline(currency, output);
  return { source: file, record, balances, currency, exponent, verdict };
}

async function readClose(
  { client, output }: { readonly client: LedgerClient; readonly output: Output },
  ledgerId: string,
  label: string,
): Promise<Side> {
  const { closeId } = await findClose(client, ledgerId, label);
  const { balances, ...claimed } = await client.getClose(ledgerId, closeId);
  const { functionalCurrency: currency } = await client.getLedger(ledgerId);
  const exponentOf = await exponentsShown({ client, output }, ledgerId, [currency]);
  return {
    source: label,
    record: readCloseRecord(claimed),
    balances: balances.map(balanceRowOf),
    ...{ currency, exponent: exponentOf(currency), verdict: null },
  };
}

function describe(output: Output, sides: Sides, moved: readonly MovedBalance[]): string {
  const [a, b] = sides;
  return [
    [sideLine("a", a), sideLine("b", b), ...unitLines(output, sides)].join("\n"),
    ...(a.record.ledgerId === b.record.ledgerId
      ? []
      : [`OF DIFFERENT LEDGERS: ${a.record.ledgerId} and ${b.record.ledgerId}`]),
    moved.length === 0 ? "no account differs" : diffTable(output, sides, moved),
  ].join("\n\n");
}

function sideLine(name: string, { record }: Side): string {
  const { periodId, number, startsAt, endsAt, closeHash } = record;
  const bounds = `from ${startsAt ?? "the beginning"} up to ${endsAt}`;
  return `${name}  ${JSON.stringify(periodId)}, ${bounds}\n   close ${number}, closeHash ${closeHash}`;
}

/** What only bundles have amounts in; nothing is said where no side names a currency. */
function unitLines(output: Output, [a, b]: Sides): string[] {
  const shown = [unitOf(a, b), unitOf(b, a)].filter(({ verdict }) => verdict !== null);
  return unitLinesOffline(
    shown.flatMap(({ currency }) => currency ?? []),
    output,
  );
}

const figures = ["opening", "debits", "credits", "closing"] as const;

/** A row for each figure of an account that differs. */
function diffTable(output: Output, [a, b]: Sides, moved: readonly MovedBalance[]): string {
  const ofA = shownBy(a, b);
  const ofB = shownBy(b, a);
  const isComparable = a.currency === null || b.currency === null || a.currency === b.currency;
  const rows = moved.flatMap(({ stored, live }) => [
    ...figures
      .filter((figure) => stored[figure] !== live[figure])
      .map((figure) => ({
        ...{ code: stored.glAccountCode, figure, a: ofA(stored[figure]), b: ofB(live[figure]) },
        change: isComparable ? ofB(live[figure] - stored[figure]) : "",
      })),
    ...(stored.entryCount === live.entryCount
      ? []
      : [
          {
            ...{ code: stored.glAccountCode, figure: "entries" },
            ...{ a: String(stored.entryCount), b: String(live.entryCount) },
            change: String(live.entryCount - stored.entryCount),
          },
        ]),
  ]);
  return output.table(rows, [
    { title: "ACCOUNT", cutTo: 12, isCutInMiddle: true, value: ({ code }) => code },
    { title: "FIGURE", value: ({ figure }) => figure },
    { title: "A", align: "right", isAmount: true, leaveOut: 1, value: (row) => row.a },
    { title: "B", align: "right", isAmount: true, leaveOut: 2, value: (row) => row.b },
    { title: "CHANGE", align: "right", isAmount: true, value: ({ change }) => change },
  ]);
}

/**
 * The side that says what the amounts of a side are in: a bundle without entries does not say its currency, and no bundle
 * the decimals of a ledger's own assets, which a service does.
 */
function unitOf(side: Side, other: Side): Side {
  const isSame = side.currency === other.currency && other.verdict === null;
  return side.currency === null || isSame ? other : side;
}

function shownBy(side: Side, other: Side): (amount: bigint) => string {
  const { currency, exponent } = unitOf(side, other);
  return (amount) => displayAmount(amount, currency, exponent);
}
