// URLs of databases, as people and libpq write them.
import { describe, expect, it } from "vitest";
import {
  parseDatabaseUrl,
  readReplicaUrl,
  urlOfHost,
} from "../../../src/store/database/connection-url.ts";
import { listMigrations } from "../../../src/store/migrate.ts";
import { createTestDatabase } from "../../support/database.ts";

const urlsOf = (text: string) => parseDatabaseUrl(text).hosts.map(({ url }) => url);
const namesOf = (text: string) => parseDatabaseUrl(text).hosts.map(({ name }) => name);

describe("a URL with one host", () => {
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
    ["postgresql://u:p@a/books?target_session_attrs=any", "postgresql://u:p@a/books"],
    ["postgresql://a/books?user=me%40corp", null],
    ["postgresql://a/books?user=me@corp", "postgresql://a/books?user=me%40corp"],
  ])("is read: %s", (text, read) => {
    expect(urlsOf(text)).toEqual([read ?? text]);
    expect(parseDatabaseUrl(text).needsPrimary).toBe(false);
  });

  it("has to be the primary where that is asked for", () => {
    for (const attribute of ["read-write", "primary"]) {
      const text = `postgresql://u:p@a/books?target_session_attrs=${attribute}`;
      expect(parseDatabaseUrl(text)).toMatchObject({ needsPrimary: true });
      expect(urlsOf(text)).toEqual(["postgresql://u:p@a/books"]);
    }
  });
});

describe("a URL with several hosts", () => {
  it.each([
    ["postgresql://u:p@a,b/books", ["a:5432", "b:5432"]],
    ["postgresql://u:p@a:1,b:2,c/books", ["a:1", "b:2", "c:5432"]],
    ["postgresql://[::1]:5433,[2001:db8::1]/books", ["[::1]:5433", "[2001:db8::1]:5432"]],
    ["postgresql:///books?host=a,b&port=1,2", ["a:1", "b:2"]],
    ["postgresql:///books?host=a,b&port=5433", ["a:5433", "b:5433"]],
    ["postgresql://u:p@/books?host=/run/a,/run/b", ["/run/a:5432", "/run/b:5432"]],
    ["postgresql://u:p@%2Frun%2Fa,b.example.com/books", ["/run/a:5432", "b.example.com:5432"]],
  ])("names each: %s", (text, names) => {
    expect(namesOf(text)).toEqual(names);
  });

  it("gives user, database and parameters to each of them", () => {
    expect(urlsOf("postgresql://u:p@a:1,b/books?sslmode=require")).toEqual([
      "postgresql://u:p@a:1/books?sslmode=require",
      "postgresql://u:p@b/books?sslmode=require",
    ]);
  });

  it.each([
    ["", true],
    ["?target_session_attrs=read-write", true],
    ["?target_session_attrs=primary", true],
    ["?target_session_attrs=any", false],
  ])("passes over standbys unless any host is asked for: %j", (query, needsPrimary) => {
    expect(parseDatabaseUrl(`postgresql://a,b/books${query}`)).toMatchObject({ needsPrimary });
  });

  it("is refused where its ports are neither one nor one for each host", () => {
    expect(() => urlsOf("postgresql:///books?host=a,b,c&port=1,2")).toThrow(
      "the database URL names 3 hosts and 2 ports",
    );
  });
});

it.each(["read-only", "standby", "prefer-standby", "primary,standby"])(
  "refuses target_session_attrs=%s by name",
  (attribute) => {
    expect(() => urlsOf(`postgresql://a,b/books?target_session_attrs=${attribute}`)).toThrow(
      `must be read-write, primary or any, and not ${attribute}: ledgerctl writes`,
    );
  },
);

describe("the URL of a replica", () => {
  it.each([
    ["postgresql://u:p%3F@a:1,b:2/books", ["a:1", "b:2"]],
    [
      "postgresql://u@a,b/books?target_session_attrs=standby&sslmode=no-verify",
      ["a:5432", "b:5432"],
    ],
    ["postgresql:///books?host=/run/a&target_session_attrs=any", ["/run/a:5432"]],
  ])("leads to any host that answers: %s", (text, names) => {
    const address = parseDatabaseUrl(readReplicaUrl(text));
    expect(address.hosts.map(({ name }) => name)).toEqual(names);
    expect(address.needsPrimary).toBe(false);
    expect(address.hosts.some(({ url }) => url.includes("sslmode"))).toBe(text.includes("sslmode"));
  });

  it("is refused where it asks for a primary, or is none", () => {
    expect(() => readReplicaUrl("postgresql://a/books?target_session_attrs=read-write")).toThrow(
      "target_session_attrs must be standby or any, and not read-write",
    );
    expect(() => readReplicaUrl("books")).toThrow("the database URL must look like postgresql://");
  });
});

it.each([
  ...["books", "mysql://u@h/books", "postgresql:books", "", "postgresql://u:hidden@h:port/books"],
  ...["postgresql://u:hidden%zz@h/books", "postgresql://u:hidden@h%zz/books"],
  ...["postgresql://u:hidden@a,::1/books", "postgresql://u:hidden@a:1:2/books"],
  ...["postgresql://u:hidden/x@h/books", "postgresql://u:1/hidden@h/books"],
  ...["postgresql://u:1#hidden@h/books", "postgresql://u:hidden?x@h/books"],
  ...["postgresql://u:1?hidden@h/books", "postgresql://u:1?hidden=x@h/books"],
  ...["postgresql://u:1/x?hidden@h/books"],
])("refuses %j, and does not repeat it", (text) => {
  const refused = () => urlsOf(text);
  expect(refused).toThrow("the database URL must look like postgresql://");
  expect(refused).toThrow("in a password, characters such as / # ? % are percent-encoded");
  expect(refused).not.toThrow("hidden");
});

it.each([
  ["sslmode=foo", "sslmode must be one of disable, allow, prefer, "],
  [
    "sslrootcert=/nope",
    "sslrootcert=/nope in the database URL can't be read: there is no such file",
  ],
  ["sslmode=require&sslcert=/tmp", "sslcert=/tmp in the database URL can't be read: EISDIR"],
  ["uselibpqcompat=true&sslmode=verify-ca", "needs an sslrootcert"],
])("refuses %s by name", (query, message) => {
  expect(() => urlsOf(`postgresql://u:p@a/books?${query}`)).toThrow(message);
});

it("connects through the socket that the query of a URL names", async () => {
  const database = await createTestDatabase();
  const { hostname, port, username, password, pathname } = new URL(database.url);
  const directory = decodeURIComponent(hostname);
  const url = `postgresql://${username}:${password}@${pathname}?host=${directory}&port=${port}`;
  expect((await listMigrations(url)).length).toBeGreaterThan(0);
  await database.drop();
});

describe("the URL of another host", () => {
  const node = { name: "10.0.0.7", port: 5433 };

  it.each([
    [
      "postgresql://u:p%40@db:6543/books?sslmode=require",
      "postgresql://u:p%40@10.0.0.7:5433/books?sslmode=require",
    ],
    [
      "postgresql://u@a:1,b:2/books?target_session_attrs=primary",
      "postgresql://u@10.0.0.7:5433/books",
    ],
    ["postgresql://u:p@/books?host=/run/postgresql", "postgresql://u:p@10.0.0.7:5433/books"],
    [
      "postgresql:///books?host=/tmp&port=5434&user=me%20too",
      "postgresql://10.0.0.7:5433/books?user=me%20too",
    ],
  ])("has all else of %s", (url, expected) => {
    expect(urlOfHost(url, node)).toBe(expected);
  });

  it("may be an address of IPv6", () => {
    expect(urlOfHost("postgresql://u@db/books", { name: "fd00::7", port: 5432 })).toBe(
      "postgresql://u@[fd00::7]:5432/books",
    );
  });
});
