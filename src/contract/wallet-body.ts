// Bodies of wallet writes: from parsed JSON to a write, or to every fault that it has.
import * as z from "zod";
import { assetCodePattern, parseAssetCode } from "../core/asset.ts";
import { brokenTextFault, parseUuid } from "../core/text.ts";
import type { MovementType, WalletWrite } from "../core/wallet.ts";
import type { ExactJson } from "./exact-json.ts";
import { bulkItemsMax, fault, label, optional, withoutNul, wrongType } from "./field-schemas.ts";
import { metadataBytesMax } from "./metadata.ts";
import { parseBy } from "./schema-faults.ts";

const holdSecondsMax = 31_536_000;

const positiveInteger = "a positive integer in smallest units, as a string of at most 38 digits";

const amount = z
  .string(wrongType(positiveInteger))
  .regex(/^[1-9][0-9]{0,37}$/, { error: `must be ${positiveInteger}` })
  .meta({ description: "positive integer, smallest unit" })
  .transform(BigInt);

const assetCharacters = "1 to 32 letters, digits or _ . : / -";

export const assetCode = z
  .string(wrongType(assetCharacters))
  .check((payload) => {
    const { value } = payload;
    const parsed = parseAssetCode(value);
    if (parsed !== null) payload.value = parsed;
    else {
      payload.issues.push({ code: "custom", message: `must be ${assetCharacters}`, input: value });
    }
  })
  .meta({ pattern: assetCodePattern.source });

/** Any text; it is kept and not read. */
const walletMetadata = z
  .string({ error: "must be a string" })
  .check(
    fault((value) =>
      Buffer.byteLength(value) > metadataBytesMax
        ? "must be at most 64 KiB"
        : brokenTextFault(value),
    ),
  )
  .meta({
    // Bytes are not counted by JSON Schema: the most characters that can fit.
    maxLength: metadataBytesMax,
    pattern: withoutNul,
    description: `any text of at most ${metadataBytesMax / 1024} KiB; it is kept and not read`,
  });

/** The pattern of a text without control characters (Unicode category Cc). */
export const withoutControls = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";

export const notObject = { error: "must be a JSON object" };

/** What every write of an amount has. */
export const movementMembers = {
  amount,
  assetCode,
  externalId: optional(label),
  metadata: optional(walletMetadata),
};

export const movementBody = z.strictObject(movementMembers, notObject);

export const reserveBody = z.strictObject(
  {
    ...movementMembers,
    expiresInSeconds: optional(
      z
        .int({ error: `must be a whole number from 1 to ${holdSecondsMax}` })
        .min(1, { error: "must be at least 1" })
        .max(holdSecondsMax, { error: `must be at most ${holdSecondsMax}` }),
    ),
  },
  notObject,
);

export const commitBody = z.strictObject({ amount: optional(amount) }, notObject);
/** Of a request whose path says it all. */
export const noMembersBody = z.strictObject({}, notObject);

export const callerKey = label
  .refine((value) => !hasControlCharacter(value), { error: "must not contain control characters" })
  .meta({ pattern: withoutControls });

/** One of many: the members of a movement, whose wallet it is and which way it goes. */
export const bulkMovement = z.strictObject(
  {
    ...movementMembers,
    callerKey,
    type: z.enum(["credit", "debit"], { error: "must be credit or debit" }),
  },
  notObject,
);

function bulkOf(write: z.ZodType) {
  return z.strictObject(
    {
      writes: z
        .array(write, { error: "must be an array of writes" })
        .min(1, { error: "must have at least one write" })
        .max(bulkItemsMax, { error: `must have at most ${bulkItemsMax} writes` }),
    },
    notObject,
  );
}

/** What the body of a bulk has to be, writes included. */
export const bulkMovementsBody = bulkOf(bulkMovement);

/** What it has to be as a whole: its writes are judged one by one. */
const looseBulkBody = bulkOf(z.unknown());

/** Reads the body of a credit or a debit; the wallet comes from the path. Throws `validation` with every fault. */
export function parseMovementBody(
  body: ExactJson | null,
  type: MovementType,
  callerKey: string,
): WalletWrite {
  // Member by member: a copy by spread costs as much as half of the check.
  const { amount, assetCode, externalId, metadata } = parseBy(movementBody, body?.value);
  return { type, callerKey, amount, assetCode, externalId, metadata };
}

/** Reads the body of a reservation. Throws `validation` with every fault. */
export function parseReserveBody(body: ExactJson | null, callerKey: string): WalletWrite {
  return { ...parseBy(reserveBody, body?.value), type: "reserve", callerKey };
}

/**
 * Reads the body of a hold's commit, null where the request had none; a `holdId` that is no UUID names no hold. Throws
 * `validation` with every fault.
 */
export function parseCommitBody(
  body: ExactJson | null,
  callerKey: string,
  holdId: string,
): WalletWrite {
  const { amount } = parseBy(commitBody, body === null ? {} : body.value);
  return { type: "commit", callerKey, holdId: parseUuid(holdId), amount };
}

/** Reads the body of a hold's release, and throws, as for a commit. */
export function parseReleaseBody(
  body: ExactJson | null,
  callerKey: string,
  holdId: string,
): WalletWrite {
  parseBy(noMembersBody, body === null ? {} : body.value);
  return { type: "release", callerKey, holdId: parseUuid(holdId) };
}

/** Reads the body of a freeze or of its end, and throws, as for a commit. */
export function parseFreezeBody(
  body: ExactJson | null,
  type: "freeze" | "unfreeze",
  callerKey: string,
): WalletWrite {
  parseBy(noMembersBody, body === null ? {} : body.value);
  return { type, callerKey };
}

/**
 * The writes of a bulk, to be read one by one: a faulty one does not spoil the others. Throws `validation` for the body
 * as a whole.
 */
export function parseBulkBody(body: ExactJson | null): readonly unknown[] {
  return parseBy(looseBulkBody, body?.value).writes;
}

/** Reads one write of a bulk. Throws `validation` with its faults, whose paths begin at the write. */
export function parseBulkMovement(write: unknown): WalletWrite {
  return parseBy(bulkMovement, write);
}

/** Whether a text has a character that a terminal or a log could take for a command. */
export function hasControlCharacter(text: string): boolean {
  // C0, DEL and C1 (Unicode category Cc).
  return /\p{Cc}/u.test(text);
}
