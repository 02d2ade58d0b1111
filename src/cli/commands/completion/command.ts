// `ledgerctl completion`: scripts for shells, and the hidden command that these scripts ask.
import type { Command } from "commander";
import { runCommand } from "../../definition/run-command.ts";

const completionHelp = `
Load it for this shell, or for every new one:
  bash  echo 'source <(ledgerctl completion bash)' >> ~/.bashrc
  zsh   ledgerctl completion zsh > "\${fpath[1]}/_ledgerctl"
  fish  ledgerctl completion fish > ~/.config/fish/completions/ledgerctl.fish

Where a profile or the environment has credentials, ledgers, accounts, periods and wallets are completed from
the service; wallets are those of the latest postings. What can't be asked within a second is left out.

Example:
  $ source <(ledgerctl completion bash)`;

export function defineCompletion(program: Command): void {
  program
    .command("completion <shell>")
    .description("a script that completes commands in bash, zsh or fish")
    .addHelpText("after", completionHelp)
    .action((shell: string) =>
      runCommand({}, async () => {
        (await import("./completion.ts")).printScript(shell);
      }),
    );
  program
    .command("__complete <shell> [words...]", { hidden: true })
    .description("what may stand where the cursor is, for completion scripts")
    .action((shell: string, words: string[]) =>
      runCommand({}, async (environment) =>
        (await import("./complete.ts")).printCandidates(shell, words, program, environment),
      ),
    );
}
