// Answers of many lines that break off on their way: the caller can't take them for whole, and the operator learns why.
import { pino } from "pino";
import { expect, test } from "vitest";
import { entriesPath, entry } from "../support/entries.ts";
import { sampleOf } from "../support/metrics.ts";
import { serveBooks } from "../support/service.ts";
import { forge } from "../support/tampering.ts";

const lines: string[] = [];
const destination = { write: (line: string) => void lines.push(line) };
const service = serveBooks({ log: pino({ level: "warn" }, destination) });

test("a bundle with an entry that can't be read is cut, logged with its cause, and counted", async () => {
  const { books } = service;
  const metadata = { text: "x".repeat(10_000) };
  const entries = Array.from({ length: 50 }, () =>
    entry(1n, { metadata, transactionDate: "2026-01-05T00:00:00Z" }),
  );
  for (let bulk = 0; bulk < 4; bulk += 1) {
    await service.post(`${entriesPath(books.ledgerId)}/bulk`, { entries, atomic: true });
  }
  const closes = `/v1/ledgers/${books.ledgerId}/period-closes`;
  const { closeId } = (await service.post(closes, { periodId: "2026-01" })).body as {
    closeId: string;
  };
  await forge(books, "UPDATE journal_entries SET metadata = '[1]' WHERE sequence = 190");

  await expect(service.get(`${closes}/${closeId}/bundle`)).rejects.toThrow();

  await expect.poll(() => lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    level: 50,
    requestId: expect.any(String) as string,
    path: `${closes}/${closeId}/bundle`,
    status: 500,
    cause: expect.stringContaining("a row can't be read") as string,
  });
  const { text } = await service.send({ target: "/metrics", credentials: null });
  const labels = { route: "getBundle", status: "500" };
  expect(sampleOf(text, "ledgerctl_http_answers_total", labels)).toBe(1);
});
