// Benchmark: signed posts of one entry each, against the embedded database, with server, client and
// database on one machine; beside it pgbench on the same database, for the ratio.
//
//   node scripts/bench/entries.js [--connections 64] [--seconds 20] [--pgbench /path/to/pgbench]
import { parseArgs } from "node:util";
import { startBenchServer } from "./server.js";
import { machine, runClient, runPgbench } from "./measure.js";

const accounts = ["1000", "1100", "2000", "3000", "4000", "5000"];
const { values } = parseArgs({
  options: {
    connections: { type: "string", default: "64" },
    seconds: { type: "string", default: "20" },
    pgbench: { type: "string", default: "/usr/lib/postgresql/15/bin/pgbench" },
  },
});

const server = await startBenchServer();
try {
  const seconds = Number(values.seconds);
  const connections = Number(values.connections);
  const half = Math.max(5, Math.round(seconds / 2));
  const before = runPgbench(values.pgbench, server, half);
  const loaded = await runClient(server, {
    kind: "entries",
    accounts,
    connections,
    seconds,
    requests: seconds * 12_000 + 50_000,
  });
  const after = before === null ? null : runPgbench(values.pgbench, server, half);
  const alone = await runClient(server, {
    kind: "entries",
    accounts,
    connections: 1,
    seconds: 5,
    requests: 20_000,
  });
  const pgbench = before === null ? null : Math.round((before + after) / 2);
  const report = {
    ...machine,
    [`${connections} connections`]: loaded,
    "1 connection": alone,
    pgbenchPerSecond: pgbench === null ? null : [before, after],
    ratioToPgbench: pgbench === null ? null : Number((loaded.perSecond / pgbench).toFixed(2)),
    serverResidentMb: server.residentMb(),
  };
  console.log(JSON.stringify(report, null, 2));
} finally {
  await server.stop();
}
