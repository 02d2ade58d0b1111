import { describe, expect, test } from "vitest";
import { ShardNames } from "../../../src/store/database/shard-names.ts";

const names = new ShardNames(
  new Map([
    ["wallets", "wallets_102"],
    ["ledgers", "ledgers_99"],
    ["period_closes", "period_closes_103"],
  ]),
  "102",
);

const rename = (text: string, of = names) => of.rename({ name: "a", text }).text;

describe("the tables of a statement have the names of their shards", () => {
  test.each([
    [
      "SELECT wallets.balance FROM wallets WHERE ledger_id = $1 FOR UPDATE",
      "SELECT wallets.balance FROM wallets_102 AS wallets WHERE ledger_id = $1 FOR UPDATE",
    ],
    [
      "SELECT 1 FROM period_closes AS closes\n JOIN ledgers ON ledgers.ledger_id = closes.ledger_id",
      "SELECT 1 FROM period_closes_103 AS closes\n JOIN ledgers_99 AS ledgers ON ledgers.ledger_id = closes.ledger_id",
    ],
    [
      "INSERT INTO wallets (a) VALUES ($1) ON CONFLICT (a) DO UPDATE SET b = wallets.b + EXCLUDED.b",
      "INSERT INTO wallets_102 AS wallets (a) VALUES ($1) ON CONFLICT (a) DO UPDATE SET b = wallets.b + EXCLUDED.b",
    ],
    [
      "UPDATE wallets\n SET a = new.a FROM unnest($1::int[]) AS new (a) CROSS JOIN LATERAL (SELECT ctid FROM wallets) AS x",
      "UPDATE wallets_102 AS wallets\n SET a = new.a FROM unnest($1::int[]) AS new (a) CROSS JOIN LATERAL (SELECT ctid FROM wallets_102 AS wallets) AS x",
    ],
    [
      "DELETE FROM wallets WHERE ledger_id = $1",
      "DELETE FROM wallets_102 AS wallets WHERE ledger_id = $1",
    ],
  ])("%s", (text, renamed) => {
    expect(rename(text)).toBe(renamed);
  });
});

test("what is called otherwise stays as it is", () => {
  const text = "SELECT wallets_made, from_wallets FROM other JOIN wallets_of_old ON true";
  expect(rename(text)).toBe(text);
});

test("each shard has prepared statements of its own; what is not prepared stays so", () => {
  const other = new ShardNames(new Map([["wallets", "wallets_104"]]), "104");
  const query = { name: "abc", text: "SELECT FROM wallets" };
  expect([names, other].map((each) => each.rename(query))).toEqual([
    { name: "abc_102", text: "SELECT FROM wallets_102 AS wallets" },
    { name: "abc_104", text: "SELECT FROM wallets_104 AS wallets" },
  ]);
  expect(names.rename({ name: "", text: "COMMIT" })).toEqual({ name: "", text: "COMMIT" });
});
