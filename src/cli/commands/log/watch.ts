// `log watch`: holds a log to what it showed before, once or until it is interrupted.
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceProblem, ServiceUnreachable } from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import { formatVerifierKey, MalformedNote } from "../../../core/note.ts";
import type { TlogPolicy } from "../../../core/tlog-policy.ts";
import type { Signer } from "../../../verify/checkpoint.ts";
import { withService } from "../../connection/service-context.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import {
  CommandFailure,
  exitCodes,
  HintedFailure,
  notFoundFailure,
  usageFailure,
  type ExitCode,
} from "../../failure.ts";
import { requireDurationMs } from "../../input/arguments.ts";
import { readPolicyFlags, type PolicyFlags } from "../../input/policy-flags.ts";
import { displayWidth } from "../../terminal/fit-columns.ts";
import { untilInterrupted } from "../../terminal/interrupts.ts";
import { toJson, type Output } from "../../terminal/output.ts";
import { requireLogKind } from "./log-argument.ts";
import { logSource, type LogSource } from "./log-source.ts";
import { BadState, checkLog, LogConflict, type GoodCheck, type NothingYet } from "./watch-check.ts";
import { keepConflict, readState, writeState } from "./watch-state.ts";

export interface WatchFlags extends ServiceFlags, PolicyFlags {
  state: string;
  once?: boolean;
  interval: string;
}

/** Beyond it, timers of Node.js end at once. */
const intervalMsMax = 24 * 86_400_000;

export async function watchLog(
  log: string | undefined,
  flags: WatchFlags,
  environment: Environment,
): Promise<ExitCode> {
  const kind = requireLogKind(log);
  const intervalMs = requireDurationMs("--interval", flags.interval);
  if (intervalMs > intervalMsMax) throw usageFailure("--interval must be at most 24d");
  const policy = await readPolicyFlags(flags);
  return untilInterrupted(() =>
    withService(flags, environment, async ({ client, ledgerId, output }) => {
      const watch = new Watch(logSource(client, ledgerId(), kind), policy, flags.state, output);
      if (flags.once === true) return watch.checkOnce();
      for (;;) {
        await watch.checkPatiently();
        await sleep(intervalMs);
      }
    }),
  );
}

/** What a check came to, for scripts. */
interface CheckDocument {
  readonly time: string;
  readonly ok: boolean;
  readonly origin: string | null;
  readonly size: number | null;
  readonly rootHash: string | null;
  readonly previousSize: number | null;
  readonly restartedFrom: string | null;
  readonly signers: readonly Signer[];
  readonly halted: string | null;
  /** Of a good check, a remark. */
  readonly finding: string | null;
  readonly conflict: string | null;
}

class Watch {
  readonly #source: LogSource;
  readonly #policy: TlogPolicy | null;
  readonly #file: string;
  readonly #output: Output;
  /** What messages call the log. */
  readonly #name: string;
  /** What was said last beside the checks: each once, for as long as it stays so. */
  #said: string | null = null;

  constructor(source: LogSource, policy: TlogPolicy | null, file: string, output: Output) {
    this.#source = source;
    this.#policy = policy;
    this.#file = file;
    this.#output = output;
    this.#name = `log ${source.log} of ledger ${source.ledgerId}`;
  }

  /** Ends with exit code 5 where there is nothing to check yet. Rejects with what went wrong. */
  async checkOnce(): Promise<ExitCode> {
    const found = await this.#check();
    if ("nothingYet" in found) {
      const failure = notFoundFailure(`${this.#name}: ${found.nothingYet}`);
      throw new HintedFailure(failure, found.whatToDo);
    }
    return exitCodes.done;
  }

  /** A server that is away, and a log that has nothing yet, may come. */
  async checkPatiently(): Promise<void> {
    try {
      const found = await this.#check();
      if ("nothingYet" in found) this.#say(`${this.#name}: ${found.nothingYet}; looking again`);
    } catch (error) {
      if (!mayPass(error)) throw error;
      this.#say(`${this.#name}: ${(error as Error).message}; trying again`);
    }
  }

  async #check(): Promise<GoodCheck | NothingYet> {
    let lastNote: string | null = null;
    try {
      lastNote = await readState(this.#file);
      const found = await checkLog(this.#source, this.#policy, lastNote);
      if ("nothingYet" in found) return found;
      if (found.note !== lastNote) await writeState(this.#file, found.note);
      this.#tell(found, lastNote === null);
      return found;
    } catch (error) {
      if (error instanceof LogConflict) throw await this.#conflictFailure(error, lastNote);
      if (error instanceof BadState || error instanceof MalformedNote) {
        throw this.#failure(
          `${this.#file}, the last note that was good, does not hold any more: ${error.message}`,
          "Put the file back as it was. Where the keys or the policy changed since, or it is of another log, begin with a new " +
            "file: --state FILE.",
          null,
        );
      }
      throw error;
    }
  }

  async #conflictFailure(conflict: LogConflict, lastNote: string | null): Promise<HintedFailure> {
    const { path, told } = await keepConflict(this.#file, lastNote, conflict);
    const { message, isOfHistory } = conflict;
    return this.#failure(`${message}; ${told}`, isOfHistory ? ofHistory : ofSignatures, path);
  }

  #failure(found: string, whatToDo: string, conflict: string | null): HintedFailure {
    const finding = `${this.#name}: ${found}`;
    if (this.#output.isJson) this.#print({ ...nothingFound, time: now(), finding, conflict });
    const failure = new CommandFailure(finding, exitCodes.verificationFailed);
    return new HintedFailure(failure, whatToDo);
  }

  #tell(found: GoodCheck, isFirst: boolean): void {
    this.#say(this.#remarksOn(found, isFirst).join("\n"));
    const { checkpoint, previousSize, restartedFrom, halted, remark } = found;
    const { origin, size, signers } = checkpoint;
    const rootHash = checkpoint.rootHash.toString("hex");
    this.#print({
      ...{ time: now(), ok: true, origin, size, rootHash, previousSize, restartedFrom },
      ...{ signers, halted, finding: remark, conflict: null },
    });
  }

  #remarksOn(found: GoodCheck, isFirst: boolean): string[] {
    const { checkpoint, toldKey, restartedFrom, halted, remark } = found;
    const remarks: string[] = [];
    if (restartedFrom !== null) {
      remarks.push(
        `THE LOG WAS BEGUN ANEW: ${restartedFrom} is ${checkpoint.origin} now, and begins with what was seen before`,
      );
    }
    if (toldKey !== null && (isFirst || this.#policy !== null)) {
      remarks.push(
        `TRUSTED WITHOUT PROOF is the key that the server says: ${formatVerifierKey(toldKey)}\n` +
          "  Compare it with the one that the operator published, and give it as --verifier-key or in --policy.",
      );
    }
    if (halted !== null)
      remarks.push(`${this.#name}: the log is halted, and signs nothing: ${halted}`);
    if (remark !== null) remarks.push(`${this.#name}: ${remark}`);
    return remarks;
  }

  /** A line a check; with --quiet none of those that are good. */
  #print(document: CheckDocument): void {
    const { time, origin, size, rootHash, previousSize, signers } = document;
    if (this.#output.isJson) this.#output.line(toJson(document));
    if (this.#output.isJson || this.#output.isQuiet) return;
    const grown = (size ?? 0) - (previousSize ?? 0);
    const cosigners = signers.flatMap(({ name, time: cosigned }) => (cosigned ? [name] : []));
    const cells = [time, origin, `size ${size}`, `${grown} more`, `root ${rootHash}`];
    if (cosigners.length > 0) cells.push(`cosigned by ${cosigners.join(", ")}`);
    const line = cells.join("  ");
    const isTooWide = displayWidth(line) > (this.#output.terminalWidth ?? Infinity);
    this.#output.line(isTooWide ? cells.join("\n  ") : line);
  }

  #say(text: string): void {
    if (text !== "" && text !== this.#said) this.#output.warn(text);
    this.#said = text;
  }
}

/** What to do about a log that contradicts what it showed. */
const ofHistory =
  "Nothing good has two histories: keep the state file, which is as it was, and the evidence, ask whoever runs the server, " +
  "and compare with others who watch the log. `ledgerctl log verify` shows whose signatures are on a note.";

/** What to do about a note that is not signed as it has to be. */
const ofSignatures =
  "Compare the keys that you trust with those that whoever runs the server publishes. Until they say why, believe nothing " +
  "newer than the state file.";

const nothingFound = {
  ok: false,
  origin: null,
  size: null,
  rootHash: null,
  previousSize: null,
  restartedFrom: null,
  signers: [],
  halted: null,
} as const;

function now(): string {
  return new Date().toISOString();
}

/** Whether it may be otherwise by itself the next time. */
function mayPass(error: unknown): boolean {
  if (error instanceof ServiceUnreachable) return true;
  if (!(error instanceof ServiceProblem)) return false;
  return error.status >= 500 || error.status === 429 || error.code === "CHECKPOINT_NOT_FOUND";
}
