// One entry, posted, and its result printed.
import type { EntryInput } from "../../../client/ledger-client.ts";
import type { ServiceContext } from "../../connection/service-context.ts";
import { suggestingAccounts } from "../../input/account-suggestion.ts";

/** Posts an entry and prints its result. Its lines may be anything: the service judges what a file says. */
export async function postOne(context: ServiceContext, entry: EntryInput): Promise<void> {
  const { client, ledgerId, output } = context;
  const id = ledgerId();
  const posted = await suggestingAccounts({ client, ledgerId: id, codes: codesOf(entry) }, () =>
    client.postEntry(id, entry),
  );
  output.created(posted, ({ journalId }) => journalId);
}

function codesOf({ lines }: { lines?: unknown }): string[] {
  if (!Array.isArray(lines)) return [];
  return lines.flatMap((line: { glAccountCode?: unknown } | null) =>
    typeof line?.glAccountCode === "string" ? [line.glAccountCode] : [],
  );
}
