// What `log watch` asks of a server about one log.
import {
  ServiceProblem,
  type LedgerClient,
  type Log,
  type LogKind,
} from "../../../client/ledger-client.ts";

/** The part of what the server says of a log that is looked at. */
export type ShownLog = Pick<Log, "origin" | "verifierKey" | "checkpoint" | "halted" | "origins">;

/** A log as its server shows it. */
export interface LogSource {
  readonly ledgerId: string;
  readonly log: LogKind;
  getLog(): Promise<ShownLog>;
  /** The newest that meets the quorum of the server's policy; null where none does. */
  findCosigned(): Promise<string | null>;
  /** The first checkpoint under an origin; null where there is none. */
  findFirst(origin: string): Promise<string | null>;
  /** Hashes in base64. */
  getConsistency(range: { from: number; to: number }): Promise<readonly string[]>;
}

export function logSource(client: LedgerClient, ledgerId: string, log: LogKind): LogSource {
  return {
    ledgerId,
    log,
    getLog: () => client.getLog(ledgerId, log),
    findCosigned: () => orNull(client.getCheckpoint(ledgerId, log, { cosigned: true })),
    findFirst: async (origin) => {
      const page = await orNull(client.listCheckpoints(ledgerId, log, { origin, limit: 1 }));
      const size = page?.checkpoints[0]?.size;
      return size === undefined ? null : client.getCheckpoint(ledgerId, log, { origin, size });
    },
    getConsistency: async (range) => (await client.getConsistency(ledgerId, log, range)).hashes,
  };
}

async function orNull<Reply>(reply: Promise<Reply>): Promise<Reply | null> {
  try {
    return await reply;
  } catch (error) {
    if (error instanceof ServiceProblem && error.code === "CHECKPOINT_NOT_FOUND") return null;
    throw error;
  }
}
