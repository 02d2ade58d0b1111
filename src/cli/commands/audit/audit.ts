// `audit`: what the engine's audit finds, told. Only an audit that came to its end says that all is well.
import type { Environment } from "../../../config.ts";
import type { AuditFinding, AuditReport } from "../../../audit/audit-log.ts";
import { auditLedgers, type AuditProgress } from "../../../audit/audit.ts";
import type { Database } from "../../../server/database.ts";
import { Pool } from "../../../store/database/pool.ts";
import { requireLabel } from "../../input/arguments.ts";
import { withDatabase } from "../../connection/database-context.ts";
import { findStoredLedger } from "../../connection/stored-names.ts";
import { exitCodes, notFoundFailure, type ExitCode } from "../../failure.ts";
import type { DatabaseFlags } from "../../definition/options.ts";
import type { Output } from "../../terminal/output.ts";
import { withProgress } from "../../terminal/progress-line.ts";
import { counted } from "../../terminal/counted.ts";

export interface AuditFlags extends DatabaseFlags {
  ledger?: string;
}

/** Sums over years of wallet writes are one statement. */
const answerTimeoutMs = 3_600_000;

export async function audit(flags: AuditFlags, environment: Environment): Promise<ExitCode> {
  if (flags.ledger !== undefined) requireLabel("--ledger", flags.ledger);
  return withDatabase(flags, environment, async ({ output, pool, database }) => {
    const ledgerId =
      flags.ledger === undefined ? null : await findStoredLedger(pool, "--ledger", flags.ledger);
    const report = await auditDatabase(database, ledgerId, output);
    output.result(report, () => describeReport(report, output));
    return report.ok ? exitCodes.done : exitCodes.verificationFailed;
  });
}

/** Audits all ledgers of a database, or one, with its progress on a terminal. */
export async function auditDatabase(
  { url }: Database,
  ledgerId: string | null,
  { isQuiet }: Output,
): Promise<AuditReport> {
  const pool = new Pool({ databaseUrl: url, connectionsMax: 2, answerTimeoutMs });
  let read = { ledgerId: "", entries: 0 };
  const describeRead = () =>
    `ledger ${read.ledgerId}: ${counted(read.entries, "entry", "entries")}`;
  try {
    const report = await withProgress(!isQuiet, describeRead, () =>
      pool.twoOfOneSnapshot((connection, beside) => {
        const onProgress = (progressed: AuditProgress) => {
          read = progressed;
        };
        return auditLedgers(connection, ledgerId, onProgress, beside);
      }),
    );
    if (report === null) throw notFoundFailure(`the database has no ledger ${ledgerId ?? ""}`);
    return report;
  } finally {
    await pool.end();
  }
}

/** A report for people: a table of checks, what was found, and the verdict. */
export function describeReport(report: AuditReport, output: Output): string {
  const several = new Set(
    [...report.checks.flatMap(({ findings }) => findings), ...report.notes].flatMap(
      ({ ledgerId }) => ledgerId ?? [],
    ),
  );
  const place = ({ ledgerId, where }: AuditFinding) =>
    several.size > 1 && ledgerId !== null ? `ledger ${ledgerId}, ${where}` : where;
  const table = output.table(report.checks, [
    { title: "CHECK", value: ({ name }) => name },
    { title: "CHECKED", align: "right", value: ({ checked }) => String(checked) },
    {
      title: "RESULT",
      value: ({ ok, findingCount }) => (ok ? "ok" : `${findingCount} FOUND`),
      style: ({ ok }) => (ok ? "good" : "bad"),
    },
  ]);
  const lines: string[] = [];
  for (const { name, findings, findingCount } of report.checks) {
    for (const finding of findings) {
      lines.push(`MISMATCH  ${name}: ${place(finding)} ${finding.what}`);
    }
    const rest = findingCount - findings.length;
    if (rest > 0) lines.push(`MISMATCH  ${name}: and ${rest} more`);
  }
  for (const note of report.notes) lines.push(`note      ${place(note)} ${note.what}`);
  const rest = report.noteCount - report.notes.length;
  if (rest > 0) lines.push(`note      and ${rest} more`);
  lines.push(
    report.ok
      ? "Everything matches. Whether the closes are those that were published, `merkle verify --expect` tells."
      : "FAILED: what is above does not match.",
  );
  return [table, "", output.judged(output.folded(lines.join("\n"), "MISMATCH  ".length))].join(
    "\n",
  );
}
