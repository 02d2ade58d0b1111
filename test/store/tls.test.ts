// TLS to the database as URLs ask for it, through a proxy that ends it: its certificate is for `localhost` only, and
// signed by nobody else.
import { connect, createServer, type AddressInfo, type Server } from "node:net";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { TLSSocket } from "node:tls";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectionTarget } from "../../src/store/database/connection-url.ts";
import { listMigrations } from "../../src/store/migrate.ts";
import { upstreamOf } from "../support/cutting-proxy.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";

const tlsFile = (name: string) => fileURLToPath(new URL(`../support/tls/${name}`, import.meta.url));
const certificateFile = tlsFile("certificate.pem");
const warnings: string[] = [];
const noteWarning = ({ message }: Error) => warnings.push(message);
let database: TestDatabase;
let proxy: Server;

beforeAll(async () => {
  process.on("warning", noteWarning);
  database = await createTestDatabase();
  const [cert, key] = [readFileSync(certificateFile), readFileSync(tlsFile("key.pem"))];
  proxy = createServer((client) => {
    client.on("error", () => undefined);
    // A client that wants TLS says so in its first message, and goes on when it is answered (PostgreSQL's SSLRequest).
    client.once("data", () => {
      client.write("S");
      const encrypted = new TLSSocket(client, { isServer: true, cert, key });
      const upstream = connect(upstreamOf(database.url));
      encrypted.on("error", () => upstream.destroy());
      upstream.on("error", () => encrypted.destroy());
      encrypted.pipe(upstream).pipe(encrypted);
    });
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
});

afterAll(async () => {
  process.off("warning", noteWarning);
  proxy.close();
  await once(proxy, "close");
  await database.drop();
});

function urlThroughProxy(host: string, tls: Record<string, string>): string {
  const url = new URL(database.url);
  url.hostname = host;
  url.port = String((proxy.address() as AddressInfo).port);
  for (const [name, value] of Object.entries(tls)) url.searchParams.set(name, value);
  return url.href;
}

/** Whether a connection comes about; the reason why not. */
async function connectWith(host: string, tls: Record<string, string>): Promise<string> {
  const target = connectionTarget(urlThroughProxy(host, tls), "test");
  const client = new Client({ connectionString: target.url, ssl: target.ssl });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await client.query("SELECT 1");
    return "connected";
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  } finally {
    await client.end();
  }
}

const root = { sslrootcert: certificateFile };
const [selfSigned, otherName] = ["DEPTH_ZERO_SELF_SIGNED_CERT", "ERR_TLS_CERT_ALTNAME_INVALID"];

test.each([
  ["127.0.0.1", { sslmode: "prefer" }, selfSigned],
  ["127.0.0.1", { sslmode: "require" }, selfSigned],
  ["127.0.0.1", { sslmode: "require", uselibpqcompat: "true" }, "connected"],
  ["127.0.0.1", { sslmode: "no-verify" }, "connected"],
  ["127.0.0.1", { sslmode: "require", ...root }, otherName],
  ["127.0.0.1", { sslmode: "verify-ca", ...root }, otherName],
  ["127.0.0.1", { sslmode: "verify-ca", uselibpqcompat: "true", ...root }, "connected"],
  ["localhost", { sslmode: "verify-full", ...root }, "connected"],
  ["localhost", { sslmode: "verify-full" }, selfSigned],
  ["localhost", { sslmode: "verify-ca" }, selfSigned],
  ["localhost", { ssl: "true" }, selfSigned],
  ["127.0.0.1", { sslmode: "verify-full", ...root }, otherName],
])("%s with %o: %s", async (host, tls, outcome) => {
  expect(await connectWith(host, tls)).toBe(outcome);
  expect(warnings).toEqual([]);
});

test("a certificate that is not accepted is told with the parameters that decide it", async () => {
  const refused = listMigrations(urlThroughProxy("localhost", { sslmode: "require" }));
  await expect(refused).rejects.toThrow(
    /certificate of the database's server is not accepted \(.+\): .*sslrootcert=FILE.*sslmode=no-verify/,
  );
});
