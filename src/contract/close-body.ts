// The body of a period close.
import { z } from "zod";
import { readPeriodLabel, type CloseRequest } from "../core/period.ts";
import type { Parsed } from "./entry-body.ts";
import type { ExactJson } from "./exact-json.ts";
import { description, label, optional, timestamp } from "./field-schemas.ts";
import { faultsOf } from "./schema-faults.ts";

const periodId = label.superRefine((value, context) => {
  const meaning = readPeriodLabel(value);
  if (typeof meaning === "object" && "fault" in meaning) {
    context.addIssue({ code: "custom", message: meaning.fault });
  }
});

export const closeBody = z
  .strictObject(
    {
      periodId,
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
