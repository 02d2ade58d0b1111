// `period list`: closes, oldest first.
import type { Close } from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { withService } from "../../connection/service-context.ts";
import { allCloses } from "./find-close.ts";
import { shortDate } from "../../terminal/short-date.ts";

const csvNames = [
  ...["ledgerId", "closeId", "number", "periodId", "reason", "startsAt", "endsAt", "closedAt"],
  ...["lastSequence", "entryCount", "merkleRoot", "merkleAlgorithm", "balancesRoot"],
  ...["previousCloseHash", "closeHash"],
] as (keyof Close)[];

export async function listPeriods(flags: ServiceFlags, environment: Environment): Promise<void> {
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    output.list(
      await allCloses(client, ledgerId()),
      [
        { title: "NO", align: "right", value: ({ number }) => String(number) },
        { title: "PERIOD", cutTo: 8, value: ({ periodId }) => periodId },
        {
          title: "FROM",
          leaveOut: 2,
          value: ({ startsAt }) => startsAt ?? "the beginning",
          shortValue: ({ startsAt }) => shortDate(startsAt ?? "the beginning"),
        },
        {
          title: "TO",
          leaveOut: 3,
          value: ({ endsAt }) => endsAt,
          shortValue: ({ endsAt }) => shortDate(endsAt),
        },
        { title: "ENTRIES", align: "right", value: ({ entryCount }) => String(entryCount) },
        {
          title: "CLOSED",
          leaveOut: 4,
          value: ({ closedAt }) => closedAt,
          shortValue: ({ closedAt }) => closedAt.slice(0, "2026-01-31".length),
        },
        { title: "CLOSE HASH", cutTo: 12, leaveOut: 1, value: ({ closeHash }) => closeHash },
      ],
      ({ periodId }) => periodId,
      csvNames,
    );
  });
}
