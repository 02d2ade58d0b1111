// The chain of a wallet's log, against the canonical form and the hash made in another way.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { canonicalJson } from "../../src/core/canonical.ts";
import type { Timestamp } from "../../src/core/time.ts";
import { chainEntry, chainStart, type ChainedEntry } from "../../src/core/wallet-chain.ts";

const start = {
  ledgerId: "01a1f91f-5d51-745a-b856-82e539f85085",
  walletId: "01a1f91f-5d51-745a-b856-82e539f85086",
  callerKey: 'a "key"\n',
  assetCode: "USD",
  chainedAfter: 3,
};

const entry: ChainedEntry = {
  seq: 4,
  type: "reserve",
  amount: 10n ** 37n,
  balance: -5n,
  held: 7n,
  externalId: 'x "1", \u2028 ü \u{1f4b0}',
  holdId: "01a1f91f-5d51-745a-b856-82e539f85087",
  metadata: '{"a":"\\u0000\t"}',
  at: "2026-01-01T00:00:00.001Z" as Timestamp,
  transferId: null,
  counterparty: null,
  pendingPostingId: null,
};
const accepted = { expiresAt: "2026-01-02T00:00:00.000Z" as Timestamp, ruleVersion: null };

describe("the chain of a wallet's log", () => {
  test("begins with the wallet's owner, its asset and the seq before", () => {
    const document = ["ledgerctl/wallet-log/v1", ...Object.values(start)];
    expect(chainStart(start)).toBe(
      createHash("sha256").update(canonicalJson(document)).digest("hex"),
    );
  });

  test("hashes the hash before and the canonical JSON of the row", () => {
    const previous = chainStart(start);
    for (const [row, beside] of [
      [entry, accepted],
      [
        { ...entry, type: "credit", externalId: null, holdId: null, metadata: null },
        { expiresAt: null, ruleVersion: 2 },
      ],
      [
        { ...entry, metadata: "ü€\u{1f4b0}".repeat(5_000), pendingPostingId: start.walletId },
        accepted,
      ],
    ] as const) {
      const document = [
        ...[row.seq, row.type, String(row.amount), String(row.balance), String(row.held)],
        ...[row.externalId, row.holdId, row.metadata, row.at],
        ...[beside.expiresAt, row.pendingPostingId, beside.ruleVersion],
      ];
      expect(chainEntry(previous, row, beside)).toBe(
        createHash("sha256").update(previous).update(canonicalJson(document)).digest("hex"),
      );
    }
  });
});
