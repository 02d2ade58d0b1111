// hledger and beancount, where this machine has them: what they make of a file.
import { execFile, spawnSync } from "node:child_process";
import { promisify } from "node:util";

// They read a file as the locale says, and take none that is not ASCII without one.
const env = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", LANG: "C.UTF-8" };

const isInstalled = (program: string, ...args: string[]) =>
  spawnSync(program, args, { env }).status === 0;

export const hasHledger = isInstalled("hledger", "--version");

/** A Python that has beancount: Debian's package is the system's Python's. */
const python = ["python3", "/usr/bin/python3"].find((program) =>
  isInstalled(program, "-c", "import beancount.loader"),
);
export const hasBeancount = python !== undefined;

if (!hasHledger) console.info("hledger's reading of exports is left out: there is no hledger");
if (!hasBeancount)
  console.info("beancount's reading of exports is left out: there is no beancount");

/** By account and commodity, with a line end between them: the amount as it is printed. */
export type PrintedBalances = ReadonlyMap<string, string>;

interface OtherBooks {
  /** Fails unless the program takes the file, and finds every account and commodity declared. */
  check(file: string): void;
  /** In what each posting was made. */
  balances(file: string): PrintedBalances;
  /** In functional currency: foreign amounts at what they cost. */
  balancesAtCost(file: string): PrintedBalances;
}

export const hledger: OtherBooks = {
  check: (file) => {
    run("hledger", "-f", file, "check", "accounts", "commodities");
  },
  balances: (file) => hledgerBalances(file),
  balancesAtCost: (file) => hledgerBalances(file, "--cost"),
};

function hledgerBalances(file: string, ...more: string[]): PrintedBalances {
  const flags = ["--flat", "--no-total", "--layout=bare", "--output-format=csv"];
  return new Map(
    rows(run("hledger", "-f", file, "balance", ...flags, ...more)).map(
      ([account = "", commodity = "", amount = ""]) => [`${account}\n${commodity}`, amount],
    ),
  );
}

const reportBytesMax = 256 * 1024 * 1024;

/** The rows of a report of hledger, at cost, without the first: `areg`, `balance`, `register`. */
export async function hledgerReport(file: string, ...args: string[]): Promise<string[][]> {
  const flags = ["-f", file, ...args, "--cost", "--output-format=csv"];
  const options = { env, maxBuffer: reportBytesMax };
  const { stdout } = await promisify(execFile)("hledger", flags, options);
  return rows(stdout);
}

export const beancount: OtherBooks = {
  check: (file) => {
    beancountSums(file, "units");
  },
  balances: (file) => beancountSums(file, "units"),
  balancesAtCost: (file) => beancountSums(file, "weight"),
};

/** Its own loading, checking and weighing; its query tool cuts digits off where it shows sums. */
const summing = `
import collections, sys
from beancount import loader
from beancount.core import convert, data
entries, errors, _ = loader.load_file(sys.argv[1])
for error in errors: print(error.source["lineno"], error.message, file=sys.stderr)
sums = collections.defaultdict(int)
for entry in data.filter_txns(entries):
    for posting in entry.postings:
        amount = posting.units if sys.argv[2] == "units" else convert.get_weight(posting)
        sums[posting.account, amount.currency] += amount.number
print("account,currency,sum")
for (account, currency), sum in sums.items(): print(f"{account},{currency},{sum:f}")
sys.exit(1 if errors else 0)
`;

function beancountSums(file: string, what: "units" | "weight"): PrintedBalances {
  const printed = run(python ?? "", "-c", summing, file, what);
  return new Map(
    rows(printed).map(([account = "", currency = "", sum = ""]) => [
      `${account}\n${currency}`,
      sum,
    ]),
  );
}

function run(program: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ended with ${status}:\n${stderr}${stdout}`);
  return stdout;
}

/** The rows of a CSV without its header; no cell has a comma or a quote of its own. */
function rows(csv: string): string[][] {
  return csv
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.split(",").map((cell) => cell.trim().replace(/^"|"$/g, "").trim()));
}
