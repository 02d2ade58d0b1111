// The body of a period close.
import * as z from "zod";
import { closeLabel, description, label, optional, timestamp } from "./field-schemas.ts";

export const closeBody = closeBodyWith(closeLabel);

/** The same of a period that may be closed already, under a label that was taken once and is taken no more. */
export const repeatedCloseBody = closeBodyWith(label);

function closeBodyWith(periodId: typeof label) {
  return z
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
}
