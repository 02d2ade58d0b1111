// `ledgerctl request`: any signed request.
import type { Command } from "commander";
import { collect, serviceOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

const examples = `
Examples:
  $ ledgerctl request GET /v1/ledgers
  $ LEDGER=$(ledgerctl ledger list --json | jq -r .id | head -n 1)
  $ ledgerctl request POST "/v1/wallets/$LEDGER:alice/credit" -d amount=500 -d assetCode=USD
  $ echo '{"lines":[{"glAccountCode":"1000","functionalAmount":"1"},{"glAccountCode":"4000","functionalAmount":"-1"}]}' |
      ledgerctl request POST "/v1/ledgers/$LEDGER/journal-entries" --body -`;

export function defineRequest(program: Command): void {
  serviceOptions(program.command("request <method> <target>"))
    .description("send a signed request and print the reply")
    .option("--body <file>", "the file whose bytes are the body, - is stdin; or JSON itself")
    .option("-d, --data <key=text>", "a member of a JSON body; KEY:=JSON if it is no text", collect)
    .addHelpText("after", examples)
    .action(loadAndRun(async () => (await import("./request.ts")).request));
}
