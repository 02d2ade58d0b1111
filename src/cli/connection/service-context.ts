// Running a command against the service.
import type { Environment } from "../../config.ts";
import { LedgerClient, ServiceProblem, type Exchange } from "../../client/ledger-client.ts";
import { problemKinds } from "../../core/errors.ts";
import { interruptible } from "../terminal/interrupts.ts";
import {
  requireCredentials,
  requireHttpUrl,
  resolveConnection,
  type Connection,
} from "./settings.ts";
import type { ServiceFlags } from "../definition/options.ts";
import { Output } from "../terminal/output.ts";
import { ProgressLine, waitingFor } from "../terminal/progress-line.ts";
import { findNamedLedger, type LedgerFinder } from "./named-ledger.ts";
import { RetryNotice } from "./retry-notice.ts";

export interface ServiceContext {
  readonly output: Output;
  readonly connection: Connection;
  readonly client: LedgerClient;
  /** The ledger that the command is about. Throws a usage failure when none was named. */
  readonly ledgerId: LedgerFinder;
  readonly wait: RetryNotice;
}

interface ServiceOptions {
  /** The command has a line of its own for how far it has come. */
  readonly showsProgress?: boolean;
  readonly connections?: number;
  readonly retryForMs?: number;
  /** How long one request may take. */
  readonly timeoutMs?: number;
  /** Where the service is, for those who have looked already: the file is not read, and warned about, twice. */
  readonly connection?: Partial<Connection>;
}

/** Runs a command against the service and ends its connections. */
export async function withService<Result>(
  flags: ServiceFlags,
  environment: Environment,
  run: (context: ServiceContext) => Promise<Result>,
  { connection: found, showsProgress = false, ...more }: ServiceOptions = {},
): Promise<Result> {
  const output = new Output(flags, environment.isColorRefused);
  const connection = requireCredentials(
    found ?? (await resolveConnection(flags, environment, output)),
  );
  const { url, urlSource, apiKey, apiSecret, ledger } = connection;
  const wait = new RetryNotice(output);
  const progress = new ProgressLine(!showsProgress && !output.isQuiet);
  let requestsInFlight = 0;
  const client = new LedgerClient({
    url: requireHttpUrl(url, urlSource),
    apiKey,
    apiSecret,
    // Long enough for a hiccup, short enough for somebody who waits at a prompt.
    retryForMs: 3_000,
    ...more,
    onRequest: () => {
      if (requestsInFlight === 0) progress.tell(waitingFor("the service is at work"));
      requestsInFlight += 1;
    },
    onExchange: (exchange) => {
      requestsInFlight -= 1;
      if (requestsInFlight === 0) progress.rest();
      if (exchange.status !== null && !isBusy(exchange.status)) wait.end();
      if (flags.verbose === true) describeExchange(exchange, output);
    },
    onRetry: () => {
      wait.begin();
    },
    signal: wait.signal,
  });
  try {
    return await interruptible(
      async () => {
        const ledgerId = await findNamedLedger(client, ledger);
        return run({ output, connection, client, ledgerId, wait });
      },
      () => {
        wait.close();
      },
    );
  } catch (error) {
    throw ledger === null ? error : namingLedger(error, ledger);
  } finally {
    progress.end();
    wait.close();
    await client.close();
  }
}

const { ledgerNotFound } = problemKinds;

/** The service answers alike to every ledger that the key can't see; here it is known which was meant. */
function namingLedger(error: unknown, ledgerId: string): unknown {
  if (!(error instanceof ServiceProblem) || error.problem.title !== ledgerNotFound.title) {
    return error;
  }
  const { status, requestId, retryAfterSeconds, wasRepeated } = error;
  const problem = {
    ...error.problem,
    detail: `there is no ledger ${ledgerId} that the key can see`,
  };
  return new ServiceProblem({ status, requestId, retryAfterSeconds, wasRepeated, problem });
}

/** A service that says so is tried again, like one that says nothing. */
function isBusy(status: number): boolean {
  return status === 429 || status === 503;
}

function describeExchange(full: Exchange, output: Output): void {
  const exchange = { ...full, replyBody: withoutSecrets(full.replyBody) };
  const { method, target, requestBody, status, replyBody, requestId, durationMs } = exchange;
  const lines = [`> ${method} ${target}`];
  if (requestBody !== "") lines.push(`> ${requestBody}`);
  lines.push(
    status === null
      ? "< no answer"
      : `< ${status} in ${durationMs.toFixed(1)} ms, request ${requestId ?? "unknown"}`,
  );
  if (replyBody !== "") lines.push(`< ${replyBody}`);
  output.exchange(exchange, lines);
}

/** A reply as logs may have it: that of a delivery that was made has its secret. */
function withoutSecrets(replyBody: string): string {
  return replyBody.replace(/"secret":"ds_[^"]*"/g, '"secret":"ds_********"');
}
