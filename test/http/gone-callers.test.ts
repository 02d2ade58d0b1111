// Callers who ask for what takes long and go away: the database does not work on for them.
import { connect } from "node:net";
import { once } from "node:events";
import { beforeAll, expect, test } from "vitest";
import type { CloseRecord } from "../../src/core/close.ts";
import { isCluster } from "../support/cluster.ts";
import { neverPosting } from "../support/engine.ts";
import { entriesPath, entry, postEntry } from "../support/entries.ts";
import { sampleOf } from "../support/metrics.ts";
import { serveBooks } from "../support/service.ts";
import { signedRequestBytes } from "../support/signed-request.ts";
import { countSleepers, slowDown, speedUp, type SlowTable } from "../support/slow-tables.ts";

const service = serveBooks(neverPosting);
let closeId: string;
let journalId: string;

beforeAll(async () => {
  const posted = await postEntry(service, entry(7n, { transactionDate: "2026-01-05T00:00:00Z" }));
  ({ journalId } = posted);
  const closes = `/v1/ledgers/${service.books.ledgerId}/period-closes`;
  const closed = await service.post(closes, { periodId: "2026-01" });
  ({ closeId } = closed.body as CloseRecord);
});

// A view can't take the place of a table that is spread.
test.skipIf(isCluster).each<[string, SlowTable, () => string]>([
  ["a trial balance", "journal_lines", () => "trial-balance"],
  ["a preview", "journal_lines", () => "period-closes/preview?periodId=2026-02"],
  ["a bundle", "journal_lines", () => `period-closes/${closeId}/bundle`],
  ["a proof", "period_close_subtrees", () => `period-closes/${closeId}/proof?entryId=${journalId}`],
  ["a list with a filter", "journal_lines", () => "journal-entries?glAccountCode=1000"],
])("%s ends in the database when its caller is gone", async (_name, table, path) => {
  const { books, port } = service;
  await slowDown(books, table, 3_600);
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  const target = `/v1/ledgers/${books.ledgerId}/${path()}`;
  socket.write(signedRequestBytes({ credentials: books.credentials, target }));
  await expect.poll(() => countSleepers(books)).toBeGreaterThan(0);
  socket.destroy();
  // Lists, proofs and bundles would end after 30 s by themselves.
  await expect.poll(() => countSleepers(books)).toBe(0);
  // It was we who broke the connection.
  const { text } = await service.send({ target: "/metrics", credentials: null });
  const errors = { pool: "long-running" };
  expect(sampleOf(text, "ledgerctl_database_errors_total", errors)).toBe(0);
  await speedUp(books, table);
  expect((await service.get(`${entriesPath(books.ledgerId)}?glAccountCode=1000`)).status).toBe(200);
});
