// URLs of databases, as people and libpq write them.
import { expect, it } from "vitest";
import { readDatabaseUrl } from "../../../src/store/database/connection-url.ts";
import { listMigrations } from "../../../src/store/migrate.ts";
import { createTestDatabase } from "../../support/database.ts";

it.each([
  ["postgresql://u:p@db.example.com:6543/books?sslmode=require", null],
  ["postgres://u@[::1]/books", null],
  ["postgresql://u:p@%2Frun%2Fpostgresql:5432/books", null],
  ["postgresql://u:p@/books?host=/run/postgresql", "postgresql://u:p@%2Frun%2Fpostgresql/books"],
  ["postgresql:///books?host=/tmp&port=5433", "postgresql://%2Ftmp:5433/books"],
  ["postgresql://u@:5433/books?host=/tmp", "postgresql://u@%2Ftmp:5433/books"],
  ["postgresql://u@a/books?host=b.example.com", "postgresql://u@b.example.com/books"],
  ["postgresql:///books", "postgresql://localhost/books"],
  ["postgresql://u:p@/books", "postgresql://u:p@localhost/books"],
])("reads %s", (text, read) => {
  expect(readDatabaseUrl(text)).toBe(read ?? text);
});

it.each(["books", "mysql://u@h/books", "postgresql:books", "postgresql:///b?host=/a,/b", ""])(
  "refuses %j",
  (text) => {
    expect(readDatabaseUrl(text)).toBeNull();
  },
);

it("connects through the socket that the query of a URL names", async () => {
  const database = await createTestDatabase();
  const { hostname, port, username, password, pathname } = new URL(database.url);
  const directory = decodeURIComponent(hostname);
  const url = readDatabaseUrl(
    `postgresql://${username}:${password}@${pathname}?host=${directory}&port=${port}`,
  );
  expect((await listMigrations(url ?? "")).length).toBeGreaterThan(0);
  await database.drop();
});
