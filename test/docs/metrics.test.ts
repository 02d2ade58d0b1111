// docs/operations.md lists the metrics: all of them, no others, each with its type, labels and meaning.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { readReplicaUrl } from "../../src/store/database/connection-url.ts";
import { describedMetrics, readSamples } from "../support/metrics.ts";
import { standInForCitus } from "../support/citus-stand-in.ts";
import { serveBooks, startService } from "../support/service.ts";
import { policyOfAbsentWitness } from "../support/witness.ts";
import { until } from "../support/until.ts";
import { accepted, move, newKey } from "../support/wallets.ts";
import { readTable } from "./markdown-table.ts";

const page = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8");
const service = serveBooks();

it("lists every metric of ours as the server describes it", async () => {
  // A server looks for nodes when it starts.
  await standInForCitus(service.books.databaseUrl);
  const spread = await startService(service.books, {
    logPolicy: policyOfAbsentWitness(),
    replicaUrl: readReplicaUrl(service.books.databaseUrl),
  });
  accepted(await move(spread, newKey(spread), "credit"));
  await spread.get("/v1/ledgers");
  const { text } = await until("the nodes", async () => {
    const reply = await spread.send({ target: "/metrics", credentials: null });
    return reply.text.includes("ledgerctl_database_node_up{") && reply;
  });
  await spread.stop();
  const told = [...describedMetrics(text)]
    .filter(([name]) => name.startsWith("ledgerctl_"))
    .map(([name, { type, help }]) => {
      const own = new RegExp(`^${name}(_bucket|_sum|_count)?$`);
      const sample = readSamples(text).find((each) => own.test(each.name));
      const labels = Object.keys(sample?.labels ?? {}).filter((label) => label !== "le");
      return [name, type, labels.join(", "), help];
    });
  const documented = readTable(page, ["metric", "type", "labels", "what it tells"]).map(
    ([name = "", type, labels = "", help]) => [
      name.replaceAll("`", ""),
      type,
      labels.replaceAll("`", ""),
      help,
    ],
  );
  expect(documented.sort()).toEqual(told.sort());
});
