// Clients that close their side of a connection after their requests: they get their answers.
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { entriesPath, entry, listEntries, postEntry } from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";
import { sendBytes, signedRequestBytes } from "../support/signed-request.ts";
import { slowDown, speedUp } from "../support/slow-tables.ts";

const service = serveBooks();
const statuses = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));

const post = (ledgerId: string) =>
  signedRequestBytes({
    credentials: service.books.credentials,
    target: entriesPath(ledgerId),
    body: JSON.stringify(entry()),
  });
const get = (target: string) =>
  signedRequestBytes({ credentials: service.books.credentials, target });

describe("a client that sends its requests and closes its side", () => {
  test.each([1, 3])("has an answer to each of %i writes", async (count) => {
    const ledgerId = await service.books.createLedger();
    const bytes = Buffer.concat(Array.from({ length: count }, () => post(ledgerId)));
    expect(statuses(await sendBytes(service.port, bytes))).toEqual(Array(count).fill(201));
    expect((await listEntries(service, "", ledgerId)).total).toBe(count);
  });

  test("has the answer to a read", async () => {
    expect(statuses(await sendBytes(service.port, get("/v1/ledgers")))).toEqual([200]);
  });

  test("has an answer that takes long, behind an interim one", async () => {
    const { books } = service;
    await postEntry(service, entry());
    await slowDown(books, "journal_lines", 2);
    const target = `/v1/ledgers/${books.ledgerId}/trial-balance`;
    const told = statuses(await sendBytes(service.port, get(target)));
    await speedUp(books, "journal_lines");
    expect(told).toEqual([102, 200]);
  });

  test("after a part of a request is told that it is broken", async () => {
    const part = post(service.books.ledgerId).subarray(0, -5);
    expect(statuses(await sendBytes(service.port, part))).toEqual([400]);
  });

  test("has its connection closed when it sent nothing", async () => {
    const socket = connect({ port: service.port, host: "127.0.0.1", allowHalfOpen: true });
    socket.end();
    socket.resume();
    await once(socket, "end");
    socket.destroy();
  });
});
