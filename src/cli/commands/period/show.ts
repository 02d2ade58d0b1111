// `period list` and `period show`.
import type { CloseBalance, Close } from "../../../client/ledger-client.ts";
import type { Environment } from "../../../config.ts";
import type { ServiceFlags } from "../../options.ts";
import { members } from "../../terminal/output.ts";
import { withService } from "../../connection/service-context.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import { findClose } from "./find-close.ts";

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

export async function showPeriod(
  label: string,
  flags: ServiceFlags,
  environment: Environment,
): Promise<void> {
  await withService(flags, environment, async ({ client, ledgerId, output }) => {
    const id = ledgerId();
    const { closeId } = await findClose(client, id, label);
    const close = await client.getClose(id, closeId);
    const { functionalCurrency } = await client.getLedger(id);
    output.result(close, ({ balances, ...record }) => {
      const amount = (title: string, name: "opening" | "debits" | "credits" | "closing") => ({
        title,
        align: "right" as const,
        value: (row: CloseBalance) => displayAmount(row[name], functionalCurrency),
      });
      const table = output.table(balances, [
        { title: "ACCOUNT", value: ({ glAccountCode }) => glAccountCode },
        amount("OPENING", "opening"),
        amount("DEBITS", "debits"),
        amount("CREDITS", "credits"),
        amount("CLOSING", "closing"),
        { title: "ENTRIES", align: "right", value: ({ entryCount }) => String(entryCount) },
      ]);
      return `${members(record)}\n\n${table}`;
    });
  });
}
