// Reads a file of entries in a process of its own, and says how many there were and what memory it took.
import { openEntries } from "../../../../src/cli/input/entry-files/open-entries.ts";

const source = await openEntries(process.argv[2] ?? null, null, () => undefined);
let entries = 0;
// Not maxRSS, which begins with what the process that started this one had.
let rssMax = 0;
for await (const { fault } of source.entries) {
  if (fault !== undefined) throw new Error(fault);
  entries += 1;
  if (entries % 500 === 0) rssMax = Math.max(rssMax, process.memoryUsage.rss());
}
const rssMegabytes = Math.round(rssMax / 2 ** 20);
process.stdout.write(JSON.stringify({ entries, rssMegabytes }));
