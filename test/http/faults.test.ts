// All faults of a body are told at once.
import { describe, expect, test } from "vitest";
import {
  entriesPath,
  entry,
  entryWithLine,
  listEntries,
  pointers,
  problem,
} from "../support/entries.ts";
import { serveBooks } from "../support/service.ts";

const service = serveBooks();
const post = (body: unknown) => service.post(entriesPath(service.books.ledgerId), body);

describe("all faults of a body", () => {
  test("are told at once", async () => {
    const reply = await post({
      externalId: "",
      eventtype: "x",
      metadata: { a: "\0" },
      entryType: "REVERSAL",
      transactionDate: "yesterday",
      lines: [
        { functionalAmount: "01", colour: "red" },
        { glAccountCode: "1000", functionalAmount: "0", spotRate: 0 },
        {
          glAccountCode: "1000",
          functionalAmount: "5",
          functionalCurrency: "EUR",
          transactionAmount: "4",
          transactionCurrency: "EUR",
        },
      ],
    });
    expect(new Set(pointers(reply))).toEqual(
      new Set([
        "#/externalId",
        "#/eventtype",
        "#/metadata/a",
        "#/entryType",
        "#/transactionDate",
        "#/lines/0/glAccountCode",
        "#/lines/0/functionalAmount",
        "#/lines/0/colour",
        "#/lines/1/functionalAmount",
        "#/lines/1/spotRate",
        "#/lines/2/transactionAmount",
        "#/lines/2/functionalCurrency",
      ]),
    );
    expect(problem(reply).errors).toHaveLength(12);
  });

  test("include a sum that is wrong and a member that is unknown", async () => {
    const lines = [...entry().lines, { glAccountCode: "1000", functionalAmount: "1" }];
    expect(pointers(await post({ lines, extra: 1 })).sort()).toEqual(["#/extra", "#/lines"]);
  });

  test("include what members say together where one of them is wrong by itself", async () => {
    const times = { startsAt: "2026-02-01T00:00Z", endsAt: "2026-01-01T00:00Z" };
    const closes = `/v1/ledgers/${service.books.ledgerId}/period-closes`;
    const close = await service.post(closes, { periodId: "", ...times });
    expect(pointers(close)).toEqual(["#/periodId", "#/endsAt"]);
  });

  test("include every account that the ledger lacks", async () => {
    const lines = [
      { glAccountCode: "no", functionalAmount: "1" },
      { glAccountCode: "9000", functionalAmount: "1" },
      { glAccountCode: "1000", functionalAmount: "-2" },
    ];
    expect(pointers(await post({ lines }))).toEqual([
      "#/lines/0/glAccountCode",
      "#/lines/1/glAccountCode",
    ]);
  });

  // A mebibyte of faults must not become an answer of gigabytes: each has its path in the answer.
  test.each([
    [
      "many numbers deep down",
      () =>
        `{"metadata":{"a":${"[".repeat(500)}${Array(5_000).fill("1e400").join()}${"]".repeat(500)}}}`,
    ],
    [
      "many faults under a long name",
      () => JSON.stringify({ metadata: { ["k".repeat(5_000)]: Array(1_000).fill("\0") } }),
    ],
    [
      "many unknown members",
      () => `{${Array.from({ length: 60_000 }, (_, index) => `"k${index}":1`).join()}}`,
    ],
  ])("make no answer larger than the largest body: %s", async (_, body) => {
    const reply = await post(body());
    expect(reply.status).toBe(400);
    expect(reply.text.length).toBeLessThan(1024 * 1024);
  });
});

test("nothing that was refused has got in", async () => {
  const { total } = await listEntries(service);
  await post({ ...entry(), extra: 1 });
  await post(entryWithLine({ glAccountCode: "no" }));
  expect((await listEntries(service)).total).toBe(total);
});
