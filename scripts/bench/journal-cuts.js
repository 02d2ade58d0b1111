// A reader of a journal's stream whose connection is cut again and again, at any byte, while two servers write the journal:
// whether it gets every entry, once and in order of sequence.
//
//   node scripts/bench/journal-cuts.js [--entries 1000000] [--cuts 1000]
//
// The client connects through a proxy, which leads to one server and then to the other, and cuts after a random number of
// bytes. Exits with 1 where an entry is missing, doubled, out of order, or not as the list has it.
import { createServer, connect } from "node:net";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { importSource } from "../import-source.js";
import { startBenchServer, startSecondServer } from "./server.js";

const { LedgerClient } = await importSource(
  'export { LedgerClient } from "./client/ledger-client.ts";',
);
const { values } = parseArgs({
  options: {
    entries: { type: "string", default: "1000000" },
    cuts: { type: "string", default: "1000" },
  },
});
const entryCount = Number(values.entries);
const cutsMax = Number(values.cuts);
const bulk = 500;
const writersPerServer = 2;
/** Of an entry's message, about: sets how many bytes go between two cuts. */
const entryBytes = 800;

/** Leads to the ports in turn; `cuts` counts. */
async function openProxy(ports) {
  const proxy = { cuts: 0, connections: 0, port: 0, close: () => undefined };
  const bytesMean = (entryCount * entryBytes) / cutsMax;
  const listener = createServer((near) => {
    const far = connect(ports[(proxy.connections += 1) % ports.length], "127.0.0.1");
    let isOver = false;
    let left = Math.ceil(-Math.log(1 - Math.random()) * bytesMean);
    const endBoth = () => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      socket.setNoDelay(true).on("error", endBoth).on("close", endBoth);
    }
    near.on("data", (chunk) => far.write(chunk));
    far.on("data", (chunk) => {
      if (isOver) return;
      const isCut = proxy.cuts < cutsMax && chunk.length >= left;
      const part = isCut ? chunk.subarray(0, left) : chunk;
      left -= chunk.length;
      if (!near.write(part) && !isCut) {
        far.pause();
        near.once("drain", () => far.resume());
      }
      if (!isCut) return;
      isOver = true;
      proxy.cuts += 1;
      near.end(endBoth);
    });
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  proxy.port = listener.address().port;
  proxy.close = () => listener.close();
  return proxy;
}

const linesOf = (number) => [
  { glAccountCode: "1000", functionalAmount: String(number) },
  { glAccountCode: "4000", functionalAmount: String(-number) },
];

/** Writes entries until there are enough; the amount of each is its number of this run. */
async function writeAll(servers) {
  let next = 1;
  const write = async (server) => {
    const client = new LedgerClient(server);
    while (next <= entryCount) {
      const first = next;
      next += bulk;
      const entries = Array.from(
        { length: Math.min(bulk, entryCount - first + 1) },
        (_, index) => ({
          lines: linesOf(first + index),
        }),
      );
      await client.postAtomicEntries(server.ledgerId, entries);
    }
    await client.close();
  };
  await Promise.all(
    servers.flatMap((server) => Array.from({ length: writersPerServer }, () => write(server))),
  );
}

/** Reads until the last entry has come. Throws at the first that is not the next. */
async function readAll(server, port, onEntry) {
  const client = new LedgerClient({ ...server, url: `http://127.0.0.1:${port}` });
  const seen = new Uint8Array(entryCount + 1);
  let sequence = 0;
  const stream = client.followEntries(server.ledgerId, { since: 0 });
  for await (const entry of stream) {
    if (entry.sequence !== sequence + 1) {
      throw new Error(`after entry ${sequence} came entry ${entry.sequence}`);
    }
    ({ sequence } = entry);
    const number = Math.abs(Number(entry.lines[0].functionalAmount));
    if (seen[number] === 1) throw new Error(`entry ${sequence} is one that came before`);
    seen[number] = 1;
    onEntry(sequence);
    if (sequence === entryCount) break;
  }
  await client.close();
  const { total } = await new LedgerClient(server).listEntries(server.ledgerId, { limit: 1 });
  const count = seen.reduce((sum, one) => sum + one, 0);
  if (total !== entryCount || count !== entryCount) {
    throw new Error(`the journal has ${total} entries, and ${count} came`);
  }
}

const first = await startBenchServer();
let exitCode = 0;
try {
  const second = await startSecondServer(first);
  try {
    const servers = [first, second];
    const proxy = await openProxy(servers.map(({ url }) => Number(new URL(url).port)));
    const startMs = performance.now();
    const secondsNow = () => ((performance.now() - startMs) / 1000).toFixed(0);
    let writtenAfter = "";
    await Promise.all([
      writeAll(servers).then(() => (writtenAfter = secondsNow())),
      readAll(first, proxy.port, (sequence) => {
        if (sequence % 100_000 === 0) {
          console.log(`${secondsNow()} s: entry ${sequence}, ${proxy.cuts} cuts`);
        }
      }),
    ]);
    console.log(
      `${entryCount} entries, each once and in order, over ${proxy.cuts} cuts and ${proxy.connections} connections: ` +
        `written after ${writtenAfter} s, read after ${secondsNow()} s`,
    );
    proxy.close();
  } finally {
    await second.stop();
  }
} catch (error) {
  console.error(error);
  exitCode = 1;
} finally {
  await first.stop();
}
process.exit(exitCode);
