// A program of its own that opens an embedded database; the tests bundle it, start it and kill it.
// Says one JSON object a line. On its input, "stop" stops the database and ends it, "leave" stops the database
// and lets it end by itself, "query" asks the database something.
import { createInterface } from "node:readline";
import { Client } from "pg";
import { openEmbeddedDatabase } from "../../../src/store/embedded/embedded-database.ts";

const [dataDir = "", binariesDir = "", supervise = "", onInterrupt = ""] = process.argv.slice(2);

function say(event: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

// As a server does: Ctrl-C is its cue to drain with the database still there.
process.on("SIGINT", () => {
  if (onInterrupt === "drain") say({ event: "interrupted" });
});

let hasLeft = false;

try {
  const started = performance.now();
  const database = await openEmbeddedDatabase({
    dataDir,
    // Empty: the installed package, as users have it.
    ...(binariesDir !== "" && { binariesDir }),
    supervise: supervise === "supervise",
    onEvent: (message) => {
      say({ event: "told", message, state: database.state() });
    },
  });
  say({ event: "open", url: database.url, ms: Math.round(performance.now() - started) });

  for await (const line of createInterface({ input: process.stdin })) {
    if (line === "query") {
      const client = new Client({ connectionString: database.url });
      await client.connect();
      const { rows } = await client.query<{ database: string }>(
        "SELECT current_database() AS database",
      );
      await client.end();
      say({ event: "answer", ...rows[0] });
    }
    if (line === "stop") {
      await database.stop();
      say({ event: "stopped", state: database.state() });
      break;
    }
    if (line === "leave") {
      await database.stop();
      say({ event: "stopped", state: database.state() });
      // Ends when nothing keeps it: that is what the test is about.
      process.stdin.destroy();
      hasLeft = true;
      break;
    }
  }
  if (!hasLeft) process.exit(0);
} catch (error) {
  const { name, message } = error as Error;
  say({ event: "refused", name, message });
  process.exit(7);
}
