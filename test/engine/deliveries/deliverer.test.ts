// Who works on a delivery, and what is read for it, at moments that the tests choose.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DeliveryAdministration } from "../../../src/engine/deliveries/delivery-administration.ts";
import { readDeliveryEvents } from "../../../src/engine/deliveries/delivery-events.ts";
import { Deliverer } from "../../../src/engine/deliveries/deliverer.ts";
import { openBooks, type OpenBooks } from "../../support/books.ts";
import { createTestDatabase, runStatement, type TestDatabase } from "../../support/database.ts";
import { openEngine } from "../../support/engine.ts";

const masterKey = randomBytes(32);
let database: TestDatabase;
let books: OpenBooks;

beforeAll(async () => {
  database = await createTestDatabase();
  books = await openBooks(database.url, masterKey);
});

afterAll(async () => {
  await books.pool.end();
  await database.drop();
});

test("a deliverer that stops in the middle of a request leaves the delivery to others at once", async () => {
  const ledgerId = await books.createLedger();
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const { apiKey } = await books.createKey();
  const { delivery } = await new DeliveryAdministration(books.pool, {
    ...{ masterKey, allowsPrivate: true, areCommitsHalted: () => false },
  }).createDelivery(
    { ledgerId, apiKey },
    { url: `https://127.0.0.1:${port}/`, events: ["close"] },
    { journal: null, walletNumber: null },
  );
  const engine = openEngine(database.url);
  await engine.close(ledgerId, "2026-01");
  await engine.end();
  const deliverer = new Deliverer(books.pool, books.pool, {
    ...{ allowsPrivate: true, intervalMs: 1, masterKeys: [masterKey] },
    writeBody: () => "{}",
    areCommitsHalted: () => false,
    onPaused: () => undefined,
    onFailure: (error) => {
      throw error;
    },
  });
  deliverer.start();
  await once(silent, "connection");
  await deliverer.stop();
  const leased = "SELECT FROM delivery_progress WHERE delivery_id = $1 AND leased_by IS NOT NULL";
  expect(await runStatement(database.url, leased, [delivery.deliveryId])).toBe(0);
  silent.close();
});

test("nothing is skipped where the database lacks entries that were to be delivered", async () => {
  const ledgerId = await books.createLedger();
  const begin = { sequence: 0, closeNumber: 0, walletNumber: 0 };
  const read = readDeliveryEvents(books.pool, ledgerId, ["entry"], begin, {
    ...begin,
    sequence: 3,
  });
  await expect(read).rejects.toThrow("a journal has no gap");
});
