// The way of docs/cli.md from a bank's CAMT.053 to entries: its program and its rules, run as they stand.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Account } from "../../src/client/ledger-client.ts";
import { startBinaryServer, type BinaryServer } from "../support/binary-server.ts";
import { openPageShell, type PageShell } from "../support/page-shell.ts";
import { filesOfPage } from "../support/page-transcript.ts";
import { hasPython } from "../support/python.ts";

const page = readFileSync(new URL("../../docs/cli.md", import.meta.url), "utf8");
const files = filesOfPage(page);

const chart: readonly Account[] = ["1000", "9999"].map((glAccountCode) => ({
  ...{ glAccountCode, name: glAccountCode, type: "asset" as const, active: true },
}));

/** An entry as version 02 of the message has it, and as version 08. */
const entries = {
  "02": (amount: string, side: string, status: string, party: string, text: string) =>
    `<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${side}</CdtDbtInd><Sts>${status}</Sts>
     <BookgDt><Dt>2026-01-05</Dt></BookgDt><AcctSvcrRef>R-${amount}</AcctSvcrRef><NtryDtls><TxDtls>
     <RltdPties><Dbtr><Nm>${side === "CRDT" ? party : "Me"}</Nm></Dbtr>
     <Cdtr><Nm>${side === "CRDT" ? "Me" : party}</Nm></Cdtr></RltdPties>
     <RmtInf><Ustrd>${text}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`,
  "08": (amount: string, side: string, status: string, party: string, text: string) =>
    `<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${side}</CdtDbtInd><Sts><Cd>${status}</Cd></Sts>
     <BookgDt><DtTm>2026-01-05T10:00:00+01:00</DtTm></BookgDt><AcctSvcrRef>R-${amount}</AcctSvcrRef>
     <NtryDtls><TxDtls><RltdPties>
     <Dbtr><Pty><Nm>${side === "CRDT" ? party : "Me"}</Nm></Pty></Dbtr>
     <Cdtr><Pty><Nm>${side === "CRDT" ? "Me" : party}</Nm></Pty></Cdtr></RltdPties></TxDtls></NtryDtls>
     <AddtlNtryInf>${text}</AddtlNtryInf></Ntry>`,
};

let server: BinaryServer;
let shell: PageShell;

beforeAll(async () => {
  server = await startBinaryServer();
  const ledgerId = await server.books.createLedger({ currency: "EUR", chart });
  shell = openPageShell(server.home, { ...server.env, LEDGERCTL_LEDGER: ledgerId });
  for (const name of ["camt.py", "camt.rules"]) {
    writeFileSync(join(shell.folder, name), files.get(name) ?? "");
  }
});

afterAll(async () => {
  await server.stop();
});

describe.runIf(hasPython)("a CAMT.053 file", () => {
  it.each(["02", "08"] as const)("of version %s becomes entries by way of CSV", (version) => {
    const entry = entries[version];
    const namespace = `urn:iso:std:iso:20022:tech:xsd:camt.053.001.${version}`;
    const statement = [
      entry("90071992547409.93", "CRDT", "BOOK", "Brandt, GmbH", "Invoice 17"),
      entry("12.5", "DBIT", "BOOK", "Bürowelt", 'Paper &amp; "pens"'),
      entry("5.00", "CRDT", "PDNG", "Nobody", "not yet"),
    ].join("");
    writeFileSync(
      join(shell.folder, "statement.xml"),
      `<?xml version="1.0" encoding="UTF-8"?><Document xmlns="${namespace}"><BkToCstmrStmt><Stmt>` +
        `${statement}</Stmt></BkToCstmrStmt></Document>`,
    );
    const [, commands = ""] = /```sh\n(python3 camt\.py [^]*?)```/.exec(page) ?? [];
    const { code, printed } = shell.run(`${commands.trimEnd()} --json --quiet`);
    expect(code, printed).toBe(0);
    const bodies = printed
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(bodies).toMatchObject([
      {
        transactionDate: "2026-01-05T00:00:00.000Z",
        description: "Brandt, GmbH: Invoice 17",
        metadata: { code: "R-90071992547409.93" },
        lines: [
          { glAccountCode: "1000", functionalAmount: "9007199254740993" },
          { glAccountCode: "9999", functionalAmount: "-9007199254740993" },
        ],
      },
      {
        description: 'Bürowelt: Paper & "pens"',
        lines: [{ functionalAmount: "-1250" }, { functionalAmount: "1250" }],
      },
    ]);
    expect(bodies).toHaveLength(2);
  });
});
