// The body of a period close.
import * as z from "zod";
import { closeLabel, description, optional, timestamp } from "./field-schemas.ts";

export const closeBody = z
  .strictObject(
    {
      periodId: closeLabel,
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
