// Benchmark: more wallet writes than the server can take. Finds the rate that it sustains (closed loop),
// sends a multiple of it (open loop), and looks whether it is back to its rate afterwards, and whether the
// wallets' logs have exactly what was accepted. There is one request under way a connection, so that the
// server refuses only where there are more of them than writes that may wait for one ledger
// (docs/operations.md, Limits).
//
//   node scripts/bench/overload.js [--factor 2] [--seconds 30] [--connections 8000] [--wallets 10000]
//     [--psql /path/to/psql]
import { parseArgs } from "node:util";
import { startBenchServer } from "./server.js";
import { checkWallets, machine, runClient, watchResidentMb } from "./measure.js";

const { values } = parseArgs({
  options: {
    factor: { type: "string", default: "2" },
    seconds: { type: "string", default: "30" },
    connections: { type: "string", default: "8000" },
    wallets: { type: "string", default: "10000" },
    psql: { type: "string", default: "/usr/lib/postgresql/15/bin/psql" },
  },
});
const sustainedSeconds = 5;

const server = await startBenchServer();
try {
  const plan = { kind: "wallets", wallets: Number(values.wallets) };
  const sustained = { ...plan, connections: 256, seconds: sustainedSeconds, requests: 250_000 };
  const before = await runClient(server, sustained);
  const residentMbBefore = server.residentMb();
  const residentMb = watchResidentMb(server, 250);
  const overload = await runClient(
    server,
    {
      ...plan,
      rate: before.perSecond * Number(values.factor),
      seconds: Number(values.seconds),
      connections: Number(values.connections),
    },
    "overload-client.js",
  );
  const samples = residentMb();
  const after = await runClient(server, sustained);
  const accepted = before.accepted + overload.accepted + after.accepted;
  const report = {
    ...machine,
    "sustained, 256 connections": before,
    overload,
    acceptedToSustained: Number((overload.acceptedPerSecond / before.perSecond).toFixed(2)),
    "sustained again": after,
    residentMb: {
      before: residentMbBefore,
      max: Math.max(...samples),
      afterwards: server.residentMb(),
    },
    books: await checkWallets(values.psql, server, accepted),
  };
  console.log(JSON.stringify(report, null, 2));
} finally {
  await server.stop();
}
