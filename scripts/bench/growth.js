// How long single requests take while a journal grows, as a table and as a picture (docs/growth.svg).
//
//   node scripts/bench/growth.js [--to 3000000] [--svg FILE]
//
// A server on an embedded database of its own gets entries of two lines over 200 accounts and five years, through the
// API, their dates in no order. At each size every kind of request is sent 31 times, one after the other; shown are
// the medians in ms, of the whole request as a client sees it.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { importSource, root } from "../import-source.js";
import { drawGrowth } from "./growth-plot.js";
import { startBenchServer } from "./server.js";
import { median, printRow } from "./table-rows.js";

const { values } = parseArgs({
  options: { to: { type: "string", default: "3000000" }, svg: { type: "string" } },
});
const sizes = [10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000].filter(
  (size) => size <= Number(values.to),
);
const accountCount = 200;
const days = 1826;
const requestCount = 31;
const bulkSize = 1_000;
const bulksAtOnce = 2;

const { LedgerClient } = await importSource(
  'export { LedgerClient } from "./client/ledger-client.ts";',
);

const random = (below) => Math.floor(Math.random() * below);
const accountOf = (number) => `acc-${String(number).padStart(3, "0")}`;

function entry(number) {
  const first = random(accountCount);
  const amount = String(1 + random(100_000));
  return {
    externalId: `growth-${number}`,
    transactionDate: new Date(Date.UTC(2021, 0, 1) + random(days * 86_400) * 1_000).toISOString(),
    lines: [
      { glAccountCode: accountOf(first), functionalAmount: amount },
      {
        glAccountCode: accountOf((first + 1 + random(accountCount - 1)) % accountCount),
        functionalAmount: `-${amount}`,
      },
    ],
  };
}

let posted = 0;

/** Posts entries until there are so many. */
async function fillTo(client, ledgerId, size) {
  const fill = async () => {
    while (posted < size) {
      const length = Math.min(bulkSize, size - posted);
      const first = posted;
      posted += length;
      const entries = Array.from({ length }, (_, index) => entry(first + index));
      await client.postAtomicEntries(ledgerId, entries);
    }
  };
  await Promise.all(Array.from({ length: bulksAtOnce }, fill));
}

/** What is measured, by name. */
function requestsOf(client, ledgerId, size) {
  const account = () => accountOf(random(accountCount));
  const month = { from: "2023-03-01T00:00:00.000Z", to: "2023-04-01T00:00:00.000Z" };
  return {
    "an entry": (number) => client.postEntry(ledgerId, entry(`${size}-${number}`)),
    "a wallet's credit": (number) =>
      client.creditWallet(
        { ledgerId, callerKey: "growth" },
        { amount: "1", assetCode: "USD", externalId: `${size}-${number}` },
      ),
    "an account's balance": () => client.getBalance(ledgerId, { account: account() }),
    "100 entries of an account": () =>
      client.listEntries(ledgerId, {
        account: account(),
        offset: random(size / accountCount),
        limit: 100,
      }),
    "100 entries of a month": () =>
      client.listEntries(ledgerId, { ...month, offset: random(size / 62), limit: 100 }),
    "a trial balance": () => client.getTrialBalance(ledgerId),
    "a preview of a month's close": () => client.previewClose(ledgerId, { periodId: "2023-03" }),
  };
}

async function medianMs(send) {
  const times = [];
  for (let number = 0; number < requestCount; number += 1) {
    const beganMs = performance.now();
    await send(number);
    times.push(performance.now() - beganMs);
  }
  return median(times);
}

function importChart({ home, dataDir, ledgerId }) {
  const chart = join(home, "chart.csv");
  const rows = Array.from(
    { length: accountCount },
    (_, number) => `${accountOf(number)},Account ${number}`,
  );
  writeFileSync(chart, ["glAccountCode,name", ...rows, ""].join("\n"));
  const binary = join(root, "bin", "ledgerctl.js");
  const args = ["account", "import", chart, "--data-dir", dataDir, "--ledger", ledgerId];
  execFileSync(process.execPath, [binary, ...args], { env: { ...process.env, HOME: home } });
}

const server = await startBenchServer();
const lines = new Map();
try {
  importChart(server);
  const client = new LedgerClient(server);
  const { ledgerId } = server;
  for (const size of sizes) {
    await fillTo(client, ledgerId, size);
    for (const [name, send] of Object.entries(requestsOf(client, ledgerId, size))) {
      lines.set(name, [...(lines.get(name) ?? []), await medianMs(send)]);
    }
  }
  await client.close();
} finally {
  await server.stop();
}
printRow(["ms at so many entries", ...sizes.map((size) => size.toLocaleString("en"))]);
printRow(["---", ...sizes.map(() => "---")]);
for (const [name, times] of lines) printRow([name, ...times.map((time) => time.toFixed(1))]);
if (values.svg !== undefined) writeFileSync(values.svg, drawGrowth(sizes, lines));
