// Whether this machine has Go and the modules that test/support/go-tlog needs, and what they say of notes and trees. Tests
// that need them are skipped where it does not.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("go-tlog/", import.meta.url));
const downloadMsMax = 60_000;

export const hasGo =
  spawnSync("go", ["mod", "download"], { cwd: folder, timeout: downloadMsMax }).status === 0;

if (!hasGo) console.info("tests that need Go are skipped: there is none, or not its modules");

/** A note, whose keys must all have signed it. */
interface NoteQuestion {
  readonly note: Buffer;
  readonly verifierKeys: readonly string[];
}

/** Whether a leaf is in a tree (RFC 6962, section 2.1.1). */
interface InclusionQuestion {
  readonly leaf: Buffer;
  readonly index: number;
  readonly size: number;
  readonly root: Buffer;
  readonly hashes: readonly Buffer[];
}

/** Whether a tree begins with a smaller one (RFC 6962, section 2.1.2). */
interface ConsistencyQuestion {
  readonly from: number;
  readonly fromRoot: Buffer;
  readonly size: number;
  readonly root: Buffer;
  readonly hashes: readonly Buffer[];
}

export type GoQuestion = NoteQuestion | InclusionQuestion | ConsistencyQuestion;

/** What Go's modules find wrong, question by question; nothing is "". */
export function askGo(questions: readonly GoQuestion[]): string[] {
  const built = mkdtempSync(join(tmpdir(), "ledgerctl-go-"));
  try {
    const program = join(built, "go-tlog");
    run("go", ["build", "-buildvcs=false", "-o", program, "."], "");
    const input = questions.map((question) => JSON.stringify(question, asBase64)).join("\n");
    return run(program, [], input)
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as string);
  } finally {
    rmSync(built, { recursive: true });
  }
}

function run(command: string, args: readonly string[], input: string): string {
  const options = { cwd: folder, encoding: "utf8", input, maxBuffer: 2 ** 28 } as const;
  const { status, stdout, stderr } = spawnSync(command, args, options);
  if (status !== 0) throw new Error(`${command} failed: ${stderr}`);
  return stdout;
}

/** Bytes as Go reads them; JSON.stringify has made objects of Buffers before it calls this. */
function asBase64(_: string, value: unknown): unknown {
  const isBuffer =
    typeof value === "object" && value !== null && "type" in value && value.type === "Buffer";
  return isBuffer ? Buffer.from(value as unknown as Uint8Array).toString("base64") : value;
}
