// `period list`: closes, oldest first.
import type { Close } from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { withService } from "../../connection/service-context.ts";

export async function listPeriods(flags: ServiceFlags, environment: Environment): Promise<void> {
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    const id = ledgerId();
    const all: Close[] = [];
    for (let hasMore = true; hasMore;) {
      const page = await client.listCloses(id, { offset: all.length, limit: 100 });
      all.push(...page.closes);
      ({ hasMore } = page);
    }
    output.list(
      all,
      [
        { title: "NO", align: "right", value: ({ number }) => String(number) },
        { title: "PERIOD", value: ({ periodId }) => periodId },
        { title: "FROM", value: ({ startsAt }) => startsAt ?? "the beginning" },
        { title: "TO", value: ({ endsAt }) => endsAt },
        { title: "ENTRIES", align: "right", value: ({ entryCount }) => String(entryCount) },
        { title: "CLOSED", value: ({ closedAt }) => closedAt },
        { title: "CLOSE HASH", value: ({ closeHash }) => closeHash },
      ],
      ({ periodId }) => periodId,
    );
  });
}
