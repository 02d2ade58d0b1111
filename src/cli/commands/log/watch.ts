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
  notFoundFailure,
  usageFailure,
  type ExitCode,
} from "../../failure.ts";
import { requireDurationMs } from "../../input/arguments.ts";
import { readPolicyFlags, type PolicyFlags } from "../../input/policy-flags.ts";
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
  /** What was said last beside the checks: each once, for as long as it stays so. */
  #said: string | null = null;

  constructor(source: LogSource, policy: TlogPolicy | null, file: string, output: Output) {
    this.#source = source;
    this.#policy = policy;
    this.#file = file;
    this.#output = output;
  }

  /** Ends with exit code 5 where there is nothing to check yet. Rejects with what went wrong. */
  async checkOnce(): Promise<ExitCode> {
    const found = await this.#check();
    if ("nothingYet" in found) throw notFoundFailure(found.nothingYet);
    return exitCodes.done;
  }

  /** A server that is away, and a log that has nothing yet, may come. */
  async checkPatiently(): Promise<void> {
    try {
      const found = await this.#check();
      if ("nothingYet" in found) this.#say(`${found.nothingYet}; looking again`);
    } catch (error) {
      if (!mayPass(error)) throw error;
      this.#say(`${(error as Error).message}; trying again`);
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
          `${this.#file}, the last note that was good, does not hold any more: ${error.message}. Put it back as it was; ` +
            "where the keys or the policy changed since, begin with a new file",
          null,
        );
      }
      throw error;
    }
  }

  async #conflictFailure(conflict: LogConflict, lastNote: string | null): Promise<CommandFailure> {
    const { path, told } = await keepConflict(this.#file, lastNote, conflict);
    return this.#failure(`${conflict.message}; ${told}`, path);
  }

  #failure(finding: string, conflict: string | null): CommandFailure {
    if (this.#output.isJson) this.#print({ ...nothingFound, time: now(), finding, conflict });
    return new CommandFailure(finding, exitCodes.verificationFailed);
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
    if (halted !== null) remarks.push(`the log is halted, and signs nothing: ${halted}`);
    if (remark !== null) remarks.push(remark);
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
    this.#output.line(cells.join("  "));
  }

  #say(text: string): void {
    if (text !== "" && text !== this.#said) this.#output.warn(text);
    this.#said = text;
  }
}

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
