// The body of a period close.
import { z } from "zod";
import type { CloseRequest } from "../core/period.ts";
import type { Parsed } from "./entry-body.ts";
import type { ExactJson } from "./exact-json.ts";
import { description, label, optional, refuseNearDate, timestamp } from "./field-schemas.ts";
import { faultsOf } from "./schema-faults.ts";

export const closeBody = z
  .strictObject(
    {
      periodId: label.superRefine(refuseNearDate),
      reason: optional(description),
      startsAt: optional(timestamp),
      endsAt: optional(timestamp),
    },
    { error: "must be a JSON object" },
  )
  .refine(({ startsAt, endsAt }) => startsAt === null || endsAt === null || startsAt < endsAt, {
    path: ["endsAt"],
    error: "must be later than startsAt",
  });

/** Reads the body of a close; a label that looks like a date and is none is a fault. */
export function parseCloseBody(body: ExactJson | null): Parsed<CloseRequest> {
  const parsed = closeBody.safeParse(body?.value);
  return parsed.success ? { value: parsed.data } : { faults: faultsOf(parsed.error) };
}
