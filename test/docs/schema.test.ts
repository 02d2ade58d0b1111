// docs/schema.md is what scripts/docs-schema.js prints for a migrated database.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

const page = readFileSync(new URL("../../docs/schema.md", import.meta.url), "utf8");

let database: TestDatabase;
let printed: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const script = new URL("../../scripts/docs-schema.js", import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [script, database.url]);
  printed = stdout;
});

afterAll(() => database.drop());

it("is generated from the schema", () => {
  expect(page).toBe(printed);
});

it("says of every table what a row is", () => {
  expect(printed).not.toContain("\nnull\n");
});
