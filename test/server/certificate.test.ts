// The certificate that TLS shows: what is wrong with its files is told by the flag of the file.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { listUrlsForOthers } from "../../src/server/addresses.ts";
import { loadCertificate, namedUrl } from "../../src/server/certificate.ts";
import { certificate, certificateFile, otherCertificate } from "../support/certificates.ts";

const folder = mkdtempSync(join(tmpdir(), "ledgerctl-certificates-"));

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function fileWith(text: string): string {
  const file = join(folder, `${Math.random()}.pem`);
  writeFileSync(file, text);
  return file;
}

/** A pipe without a writer: opening it to read waits for one. */
function makePipe(): string {
  const pipe = join(folder, `${Math.random()}.pipe`);
  execFileSync("mkfifo", [pipe]);
  return pipe;
}

const chain = certificateFile("chain.pem");
const key = certificateFile("chain-key.pem");
const [leaf = "", intermediate = ""] = certificate.cert.split(/(?<=-----END CERTIFICATE-----\n)/);

test("a chain and its key are read", async () => {
  const files = { cert: chain, key };
  expect(await loadCertificate(files)).toEqual({ ...certificate, files });
});

test.each([
  ["a file that is not there", { cert: "/none/a.pem" }, "--tls-cert /none/a.pem can't be read"],
  ["a folder", { key: tmpdir() }, `--tls-key ${tmpdir()} can't be read`],
  ["a pipe without a writer", { cert: makePipe() }, "it is a pipe or a device, not a regular file"],
  ["a key for a certificate", { cert: key }, "has no certificate in PEM"],
  ["a certificate for a key", { key: chain }, "has no private key in PEM"],
  ["an empty file", { cert: fileWith("") }, "has no certificate in PEM"],
  ["an encrypted key", { key: certificateFile("encrypted-key.pem") }, "is encrypted"],
  [
    "the key of another",
    { key: certificateFile("other-key.pem") },
    "does not belong to --tls-cert",
  ],
  ["a chain that begins with its authority", { cert: fileWith(intermediate + leaf) }, "first"],
  ["an expired one", { cert: certificateFile("expired.pem") }, "expired at 2025-02-01T00:00:00"],
  ["one for later", { cert: certificateFile("future.pem") }, "is valid from 2125-01-01T00:00:00"],
  ["a chain that breaks off", { cert: fileWith(leaf + intermediate.slice(0, 300)) }, "--tls-cert"],
])("%s is refused", async (_name, files, message) => {
  await expect(loadCertificate({ cert: chain, key, ...files })).rejects.toThrow(message);
});

describe("the URL that is announced", () => {
  test.each([
    ["https://127.0.0.1:8420", "127.0.0.1", certificate, "https://127.0.0.1:8420"],
    ["https://[::1]:8420", "localhost", certificate, "https://localhost:8420"],
    ["https://[::1]:8420", "::1", certificate, "https://localhost:8420"],
    [
      "https://192.0.2.7:8420",
      "ledger.example.com",
      otherCertificate,
      "https://ledger.example.com:8420",
    ],
    ["https://192.0.2.7", "ledger.example.com", otherCertificate, "https://ledger.example.com"],
    ["https://192.0.2.7:8420", "0.0.0.0", otherCertificate, "https://192.0.2.7:8420"],
    ["https://127.0.0.1:8420", "127.0.0.1", otherCertificate, "https://127.0.0.1:8420"],
  ])("of %s, bound as %s", (url, host, shown, named) => {
    expect(namedUrl(url, host, shown)).toBe(named);
  });

  test("is listed for other machines, unless it is loopback", async () => {
    for (const host of ["127.0.0.1", "127.0.0.2", "::1"]) {
      expect(await listUrlsForOthers("http://127.0.0.1:8420", host)).toEqual([]);
    }
    expect(await listUrlsForOthers("http://192.0.2.7:80", "192.0.2.7")).toEqual([
      "http://192.0.2.7",
    ]);
    expect(await listUrlsForOthers("http://[2001:db8::7]:8420", "2001:db8::7")).toEqual([
      "http://[2001:db8::7]:8420",
    ]);
    const external = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ internal, family }) => !internal && family === "IPv4")
      .map(({ address }) => `http://${address}:8420`);
    expect(await listUrlsForOthers("http://127.0.0.1:8420", "0.0.0.0")).toEqual(external);
  });
});
