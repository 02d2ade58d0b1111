// `ledgerctl delivery`: where a ledger's events are delivered to.
import type { Command } from "commander";
import { listOptions, serviceOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

export function defineDelivery(program: Command): void {
  const delivery = program
    .command("delivery")
    .description("deliver events to other services; the key needs the scope admin");
  serviceOptions(delivery.command("add <url>"))
    .description("deliver events to an https URL; the secret that signs them is shown this once")
    .requiredOption(
      "--events <kinds>",
      "entry, close, posting, wallet: one or more, joined by commas",
    )
    .option("--since <cursor>", "begin behind this cursor, 0.0 for everything; else with the next")
    .option("--wallet-since <cursor>", "the same for wallet writes, whose cursors are numbers")
    .addHelpText(
      "after",
      "\nWith --quiet, one line: the id, a space and the secret." +
        "\n\nExample:\n  $ ledgerctl delivery add https://books.example.com/ledger --events entry,close",
    )
    .action(loadAndRun(async () => (await import("./add.ts")).addDelivery));
  listOptions(serviceOptions(delivery.command("list")))
    .description("list deliveries, and how far each has come")
    .addHelpText("after", "\nExample:\n  $ ledgerctl delivery list")
    .action(loadAndRun(async () => (await import("./list.ts")).listDeliveries));
  for (const [verb, description] of [
    ["pause", "send nothing more to a receiver, until it is resumed"],
    ["resume", "go on from where a delivery was, at once"],
    ["remove", "remove a delivery"],
  ] as const) {
    serviceOptions(delivery.command(`${verb} <id>`))
      .description(description)
      .addHelpText("after", exampleOf(verb))
      .action(
        loadAndRun(async () => {
          const changes = await import("./change.ts");
          return changes[`${verb}Delivery`];
        }),
      );
  }
  serviceOptions(delivery.command("replay <id>"))
    .description("deliver again what is behind a cursor")
    .option("--since <cursor>", "a sequence and the number of a close; 0.0 is everything")
    .option("--wallet-since <cursor>", "a number of wallet writes")
    .addHelpText("after", exampleOf("replay", " --since 0.0"))
    .action(loadAndRun(async () => (await import("./change.ts")).replayDelivery));
}

function exampleOf(verb: string, flags = ""): string {
  return (
    "\nExample:\n  $ ID=$(ledgerctl delivery add https://books.example.com/ledger --events entry --json | jq -r .id)" +
    `\n  $ ledgerctl delivery ${verb} "$ID"${flags}`
  );
}
