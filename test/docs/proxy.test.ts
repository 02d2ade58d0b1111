// The proxy of docs/operations.md: streams get through it, and it keeps its connections to the server.
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";

test("the nginx block passes upgrades on and keeps connections to the server", async () => {
  const page = await readFile(new URL("../../docs/operations.md", import.meta.url), "utf8");
  const block = /```nginx\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  const statements = block
    .replace(/#.*$/gm, "")
    .split(/[;{}]/)
    .map((statement) => statement.trim().replace(/\s+/g, " "));
  expect(statements).toEqual(
    expect.arrayContaining([
      "map $http_upgrade $connection_to_server",
      "default upgrade",
      '"" ""',
      "upstream ledgerctl",
      "keepalive 64",
      "keepalive_timeout 60s",
      "proxy_pass http://ledgerctl",
      "proxy_http_version 1.1",
      "proxy_set_header Upgrade $http_upgrade",
      "proxy_set_header Connection $connection_to_server",
    ]),
  );
});
