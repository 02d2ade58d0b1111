// What is said of a member of a file that is not as it has to be.
import { expect, test } from "vitest";
import { entryDocument, readDocument } from "../../src/verify/documents.ts";
import vectors from "../vectors/close.json" with { type: "json" };

const [first] = vectors.entries;
// But for what is not hashed, and in no file.
const entry = Object.fromEntries(
  Object.entries(first ?? {}).filter(([name]) => name !== "reversedByJournalId"),
);
const line = { ...first?.lines[0] };

function faultOf(members: Record<string, unknown>): string | null {
  const found = readDocument(entryDocument, { ...entry, ...members });
  return "fault" in found ? found.fault : null;
}

test("an entry as it is has no fault", () => {
  expect(readDocument(entryDocument, entry)).toHaveProperty("document");
});

test.each([
  [{ sequence: 0 }, "sequence: is not greater than 0"],
  [{ sequence: 1.5 }, "sequence: is no whole number"],
  [{ sequence: "1" }, "sequence: is no number"],
  [{ externalId: undefined }, "externalId: is missing"],
  [{ entryType: "ODD" }, /^entryType: is none of STANDARD, /],
  [{ journalId: "ABC" }, "journalId: is no UUID in lower case"],
  [{ lines: [{ ...line, functionalAmount: "+5" }] }, /functionalAmount: is not written as it has/],
  [{ more: 1 }, "has members that do not belong there: more"],
])("%j is told in plain words", (members, fault) => {
  const found = faultOf(members);
  if (typeof fault === "string") expect(found).toBe(fault);
  else expect(found).toMatch(fault);
});
