// Breaks real servers and a real PostgreSQL under load, and checks that nothing was lost or doubled:
//
//   npm run chaos -- [--rounds 20] [--seed S] [--only FAULT] [--json]    a fault and a verdict in each round
//   npm run chaos -- --soak MINUTES [--rate N] [--seed S] [--json]       a steady load, with a fault in each minute
//
// The program has to be built. `--only` makes only faults that have this part in their name. `--rate` is in writes a
// second; without it, it is 70 % of what the servers take. Exits with 1 where anything was wrong; the files are kept then.
import { parseArgs } from "node:util";
import { importSource } from "./import-source.js";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "20" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    only: { type: "string", default: "" },
    soak: { type: "string" },
    rate: { type: "string" },
    json: { type: "boolean", default: false },
  },
});

function readNumber(name) {
  if (/^[1-9][0-9]{0,6}$/.test(values[name])) return Number(values[name]);
  console.error(`--${name} must be a whole number from 1 to 9999999, not "${values[name]}"`);
  process.exit(2);
}

const seed = readNumber("seed");
const chaos = await importSource(`
  export { runRounds } from "../test/chaos/rounds.ts";
  export { Soak } from "../test/chaos/soak.ts";
  export * from "../test/chaos/report.ts";
  export { faults, leftOut, possibleFaults } from "../test/chaos/faults.ts";`);

/** Ends with 2 where `--only` leaves nothing that can be made on this machine. */
function requireFaults() {
  const everything = { hasStandby: true, hasInstruments: true };
  const names = chaos.possibleFaults(chaos.faults, everything).map(({ name }) => name);
  if (names.some((name) => name.includes(values.only))) return;
  console.error(`--only must be a part of one of these names: ${names.join(", ")}`);
  process.exit(2);
}

/** Prints a document with `--json`, else the text. */
function print(document, text) {
  console.log(values.json ? JSON.stringify(document) : text);
}

async function runRounds() {
  const interrupted = new AbortController();
  process.once("SIGINT", () => {
    console.error("interrupted: the round is ended and removed");
    interrupted.abort();
  });
  for (const line of chaos.leftOut()) console.error(line);
  requireFaults();
  if (!values.json) console.log(`seed ${seed}`);
  const rounds = [];
  const pace = { writers: 8, restMsMax: 10 };
  const { signal } = interrupted;
  const count = readNumber("rounds");
  for await (const round of chaos.runRounds({ count, seed, pace, only: values.only, signal })) {
    rounds.push(round);
    print({ seed, ...round }, chaos.describeRound(round, seed));
  }
  const faults = chaos.summarize(rounds);
  print({ seed, faults }, `\n${chaos.describeSummary(faults)}`);
  if (signal.aborted) return 130;
  return rounds.some(({ wrong }) => wrong.length > 0) ? 1 : 0;
}

async function soak() {
  const minutes = readNumber("soak");
  const soak = await chaos.Soak.begin({
    rate: values.rate === undefined ? null : readNumber("rate"),
    seed,
  });
  process.once("SIGINT", async () => {
    await soak.end(false);
    process.exit(130);
  });
  const { wallets, entries } = soak.rates;
  const rates = `${wallets} credits and debits and ${entries} entries a second`;
  print({ seed, rates: soak.rates }, `seed ${seed}: ${rates}\n${chaos.minuteHeader}`);
  let end = { wrong: ["it was not finished"] };
  try {
    for (let made = 0; made < minutes; made += 1) {
      const minute = await soak.runMinute();
      print(minute, chaos.describeMinute(minute));
    }
    end = await soak.finish();
    print(end, chaos.describeSoakEnd(end));
  } finally {
    await soak.end(end.wrong.length > 0);
  }
  return end.wrong.length > 0 ? 1 : 0;
}

process.exitCode = await (values.soak === undefined ? runRounds() : soak());
