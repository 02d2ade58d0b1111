// Changes of deliveries that come at the same time.
import { beforeAll, expect, test } from "vitest";
import { scopes } from "../../src/core/ledger.ts";
import { serveBooks } from "../support/service.ts";
import type { Credentials } from "../support/signed-request.ts";

const service = serveBooks();
let credentials: Credentials;

beforeAll(async () => {
  credentials = await service.books.createKey({ scopes });
});

const send = (
  method: string,
  path: string,
  body?: object,
  ledgerId: string = service.books.ledgerId,
) =>
  service.send({
    method,
    target: `/v1/ledgers/${ledgerId}/deliveries${path}`,
    credentials,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

test("one that is removed while others pause, resume and replay it is removed, and nobody waits in a circle", async () => {
  for (let round = 0; round < 20; round += 1) {
    const made = await send("POST", "", { url: "https://books.example.com/l", events: ["entry"] });
    const { id } = made.body as { id: string };
    const replies = await Promise.all([
      send("POST", `/${id}/resume`),
      send("DELETE", `/${id}`),
      send("POST", `/${id}/resume`),
      send("POST", `/${id}/pause`),
      send("POST", `/${id}/replay`, { since: "0.0" }),
    ]);
    const statuses = replies.map(({ status }) => status);
    expect(statuses[1]).toBe(200);
    for (const status of statuses) expect([200, 404]).toContain(status);
  }
});

test("a ledger has 50 deliveries at most, also where many are made at the same time", async () => {
  const ledgerId = await service.books.createLedger();
  const wanted = { url: "https://books.example.com/l", events: ["close"] };
  const replies = await Promise.all(
    Array.from({ length: 80 }, () => send("POST", "", wanted, ledgerId)),
  );
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(50);
  const { body } = await send("GET", "", undefined, ledgerId);
  expect(body).toMatchObject({ deliveries: { length: 50 } });
});
