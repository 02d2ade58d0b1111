// `ledgerctl serve`: its options. What it does is in serve.ts.
import type { Command } from "commander";
import { databaseOptions } from "../../definition/options.ts";
import { loadAndRun } from "../../definition/run-command.ts";

export function defineServe(program: Command): void {
  databaseOptions(program.command("serve"))
    .description("serve the API over HTTP")
    .option("--host <host>", "the address to bind", "127.0.0.1")
    .option("--port <port>", "the port to bind; 0 takes a free one", Number, 8420)
    .option("--workers <n>", "processes that share the port", Number, 1)
    .option(
      "--metrics-port <port>",
      "a port for /metrics alone; without it, they are told to this machine on --port",
      Number,
    )
    .option("--metrics-host <host>", "the address to bind for it (default: 127.0.0.1)")
    .option("--tls-cert <file>", "serve TLS with this certificate and its chain (PEM)")
    .option(
      "--tls-key <file>",
      "the certificate's private key (PEM); both are read again on SIGHUP",
    )
    .option(
      "--rate-limit <limit>",
      "requests a second of each API key, and how many at once: 100/s or 100/s:500 (default: none)",
    )
    .option(
      "--read-database-url <url>",
      "a streaming standby of the database, for long reads (LEDGERCTL_READ_DATABASE_URL)",
    )
    .option(
      "--allow-private-deliveries",
      "deliver events also to addresses that are not of the public internet",
    )
    .option("--bootstrap", "on an empty database, make an organization, a USD ledger and a key")
    .option(
      "--no-migrate",
      "refuse to start where migrations are missing, instead of applying them",
    )
    .addHelpText(
      "after",
      "\nExamples:\n  $ ledgerctl serve --bootstrap\n  $ ledgerctl serve --port 0 --json --data-dir ./books" +
        "\n  $ ledgerctl serve --metrics-port 9420" +
        "\n  $ ledgerctl serve --tls-cert ledger.pem --tls-key ledger.key --rate-limit 100/s:500",
    )
    .action(loadAndRun(async () => (await import("./serve.ts")).serve));
}
