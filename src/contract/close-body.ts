// The body of a period close.
import * as z from "zod";
import { description, label, optional, refuseNearDate, timestamp } from "./field-schemas.ts";

/** A label that looks like a date and is none is a fault. */
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
