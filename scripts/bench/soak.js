// A long run: does the server's memory stay where it is, and is everything in the books that was accepted?
// Of entries also: is the last page of a long journal as near as the first?
//
//   node scripts/bench/soak.js [--kind entries|wallets] [--seconds 600] [--connections 64]
//     [--wallets 10000] [--psql /path/to/psql]
import { parseArgs } from "node:util";
import { startBenchServer } from "./server.js";
import { checkWallets, machine, runClient, runPsql, watchResidentMb } from "./measure.js";
import { signedHeaders } from "./signed-requests.js";

const { values } = parseArgs({
  options: {
    kind: { type: "string", default: "entries" },
    seconds: { type: "string", default: "600" },
    connections: { type: "string", default: "64" },
    wallets: { type: "string", default: "10000" },
    psql: { type: "string", default: "/usr/lib/postgresql/15/bin/psql" },
  },
});
const sampleMs = 5_000;

async function get(server, target) {
  const reply = await fetch(server.url + target, { headers: signedHeaders(server, "GET", target) });
  return reply.json();
}

/** The median of some reads of a page of 100, in ms. */
async function pageMs(server, offset) {
  const target = `/v1/ledgers/${server.ledgerId}/journal-entries?limit=100&offset=${offset}`;
  const times = [];
  for (let read = 0; read < 41; read += 1) {
    const startedMs = performance.now();
    const page = await get(server, target);
    times.push(performance.now() - startedMs);
    if (page.entries.length !== 100) throw new Error(`a page of ${page.entries.length} entries`);
  }
  return times.sort((a, b) => a - b)[20];
}

const kinds = {
  entries: {
    plan: { accounts: ["1000", "1100", "2000", "3000", "4000", "5000"] },
    check: async (server, accepted) => {
      const { total } = await get(server, `/v1/ledgers/${server.ledgerId}/journal-entries?limit=1`);
      const first = await pageMs(server, 0);
      const deep = total > 1_000_100 ? await pageMs(server, 1_000_000) : null;
      return {
        books: { accepted, entries: total, nothingLost: total === accepted },
        pageOf100Ms: { offset0: first, offset1000000: deep },
      };
    },
  },
  wallets: {
    plan: { wallets: Number(values.wallets) },
    check: async (server, accepted) => ({
      books: await checkWallets(values.psql, server, accepted),
    }),
  },
};
const kind = kinds[values.kind];
if (kind === undefined) throw new Error(`--kind is one of ${Object.keys(kinds).join(", ")}`);

const server = await startBenchServer();
try {
  // A psql that is missing is told before the long run.
  if (values.kind === "wallets") runPsql(values.psql, server, "SELECT");
  const residentMb = watchResidentMb(server, sampleMs);
  const load = await runClient(server, {
    ...kind.plan,
    kind: values.kind,
    connections: Number(values.connections),
    seconds: Number(values.seconds),
    requests: 0,
  });
  const samples = residentMb();
  const checked = await kind.check(server, load.accepted);
  const report = {
    ...machine,
    load,
    residentMb: {
      afterOneMinute: samples[60_000 / sampleMs - 1] ?? null,
      last: samples.at(-1),
      max: Math.max(...samples),
    },
    ...checked,
  };
  console.log(JSON.stringify(report, null, 2));
} finally {
  await server.stop();
}
