// The programs that the documentation shows are written in the client's own types: the compiler reads all of them.
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, test } from "vitest";
import { openApiDocument } from "../../src/contract/openapi/document.ts";

interface Operation {
  readonly "x-codeSamples": readonly { readonly lang: string; readonly source: string }[];
}

const root = fileURLToPath(new URL("../..", import.meta.url));

test("the samples for Node.js compile", () => {
  const { paths } = openApiDocument({ version: "", clockWindowSeconds: 300, limits: [] });
  const samples = Object.values(paths as Record<string, Record<string, Operation>>).flatMap(
    (item) =>
      Object.values(item).flatMap((operation) =>
        operation["x-codeSamples"]
          .filter(({ lang }) => lang === "JavaScript")
          .map(({ source }) => source),
      ),
  );
  expect(samples.length).toBeGreaterThan(30);
  const file = `${root}test/contract/samples.ts`;
  const source = [
    'import { LedgerClient } from "../../src/client/ledger-client.ts";',
    'const client = new LedgerClient({ url: "", apiKey: "", apiSecret: "" });',
    "declare const ledgerId: string, entryId: string, closeId: string, holdId: string, deliveryId: string;",
    ...samples,
  ].join("\n");
  expect(faultsOf(file, source)).toEqual([]);
});

function faultsOf(file: string, source: string): string[] {
  const configuration = ts.readConfigFile(`${root}tsconfig.json`, (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent(configuration.config, ts.sys, root);
  const base = ts.createCompilerHost(options);
  const host: ts.CompilerHost = {
    ...base,
    fileExists: (path) => path === file || base.fileExists(path),
    readFile: (path) => (path === file ? source : base.readFile(path)),
    getSourceFile: (path, ...more) =>
      path === file
        ? ts.createSourceFile(path, source, ts.ScriptTarget.Latest)
        : base.getSourceFile(path, ...more),
  };
  const program = ts.createProgram([file], { ...options, noEmit: true }, host);
  return [...program.getSyntacticDiagnostics(), ...program.getSemanticDiagnostics()]
    .filter((fault) => fault.file?.fileName === file)
    .map(({ messageText, start = 0 }) => {
      const line = source.slice(0, start).split("\n").length;
      return `${line}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
    });
}
