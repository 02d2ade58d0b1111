// Schemas of what is answered about the logs of a ledger.
import * as z from "zod";
import { logKinds } from "../core/log-origin.ts";
import { timestamp } from "./reply-fields.ts";

export const logKind = z.enum(logKinds);

const treeSize = z.int().nonnegative().describe("leaves in the tree");
const rootHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe("of the RFC 6962 tree, in hex");
const verifierKey = z.string().describe("as C2SP signed-note has it: name+key ID+key");

export const logReply = z.strictObject({
  origin: z.string(),
  verifierKey,
  size: treeSize,
  rootHash,
  issuedAt: timestamp.nullable(),
  checkpoint: z
    .string()
    .nullable()
    .describe("the newest checkpoint, a signed note; null before there is one"),
  cosigners: z.array(z.string()).describe("names of the witnesses that cosigned it"),
  halted: z.string().nullable().describe("why nothing is signed; null where it is"),
  witnesses: z
    .array(z.strictObject({ name: z.string(), verifierKey }))
    .describe("those of the server's policy"),
  witnessLines: z
    .array(z.string())
    .describe("the lines of the server's policy about witnesses, groups and quorum, without URLs"),
  origins: z
    .array(z.strictObject({ origin: z.string(), verifierKey }))
    .describe("all that the log has had, oldest first: one more each time that it was begun anew"),
});

export const noteReply = z.string().describe("a signed note: C2SP tlog-checkpoint");

export const checkpointPageReply = z.strictObject({
  checkpoints: z.array(z.strictObject({ size: treeSize, rootHash, issuedAt: timestamp })),
  total: z.int(),
  hasMore: z.boolean(),
});

export const consistencyReply = z.strictObject({
  from: treeSize,
  to: treeSize,
  hashes: z.array(z.string()).describe("in base64, in the order of RFC 6962, section 2.1.2"),
});

export const logProofReply = z.string().describe("C2SP tlog-proof; its extra is the record");
