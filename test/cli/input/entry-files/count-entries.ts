// Reads a file of entries in a process of its own, and says how many there were and what memory it took.
import { openEntries } from "../../../../src/cli/input/entry-files/open-entries.ts";

const source = await openEntries(process.argv[2] ?? null, null, () => undefined);
let entries = 0;
for await (const { fault } of source.entries) {
  if (fault !== undefined) throw new Error(fault);
  entries += 1;
}
const rssMegabytes = Math.round(process.resourceUsage().maxRSS / 1024);
process.stdout.write(JSON.stringify({ entries, rssMegabytes }));
