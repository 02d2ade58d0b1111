// `entry import`: a bank's CSV, by rules. All of the file is read before anything is sent.
import { readFile } from "node:fs/promises";
import type { Environment } from "../../../config.ts";
import { currencyExponent } from "../../../core/currencies.ts";
import type { JsonObject } from "../../../core/journal.ts";
import { Exponents } from "../../connection/exponents.ts";
import { withService, type ServiceContext } from "../../connection/service-context.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { exitCodes, usageFailure, type ExitCode } from "../../failure.ts";
import {
  readBankFile,
  type BankEntry,
  type Currency,
} from "../../input/bank-files/bank-entries.ts";
import { parseBankRules, type BankRules } from "../../input/bank-files/rules.ts";
import { openByteSource } from "../../input/entry-files/byte-source.ts";
import type { EntrySource, FileEntry } from "../../input/entry-files/open-entries.ts";
import { fileFailureReason } from "../../input/file-failure.ts";
import { spotRateOf } from "../../input/rates.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import { counted } from "../../terminal/counted.ts";
import { toJson, type Column } from "../../terminal/output.ts";
import { postList } from "./post-list.ts";

export interface ImportFlags extends ServiceFlags {
  rules: string;
  dryRun?: boolean;
}

/** A server that restarts in the middle of a file is waited for. */
const retryForMs = 60_000;

export async function importBankFile(
  file: string,
  flags: ImportFlags,
  environment: Environment,
): Promise<ExitCode> {
  const rules = await readRules(flags.rules);
  const more = { showsProgress: true, retryForMs };
  return withService(
    flags,
    environment,
    (context) => importFile(file, rules, flags, context),
    more,
  );
}

async function readRules(file: string): Promise<BankRules> {
  try {
    return parseBankRules(file, await readFile(file, "utf8"));
  } catch (error) {
    if (!(error instanceof Error) || !("syscall" in error)) throw error;
    throw usageFailure(`--rules ${file} can't be read: ${fileFailureReason(error)}`);
  }
}

async function importFile(
  file: string,
  rules: BankRules,
  { dryRun = false }: ImportFlags,
  context: ServiceContext,
): Promise<ExitCode> {
  const { client, ledgerId, output } = context;
  const { functionalCurrency: code } = await client.getLedger(ledgerId());
  const exponents = new Exponents(client, ledgerId());
  await exponents.learn([code]);
  const currency = { code, exponent: exponents.of(code) };
  const accounts = await client.listAccounts(ledgerId(), { activeOnly: true });
  const codes = accounts.map(({ glAccountCode }) => glAccountCode);
  const source = await openByteSource(file === "-" ? null : file);
  const { entries, faults } = await readBankFile(source.chunks, rules, currency, codes).finally(
    source.stop,
  );
  if (faults.length > 0) {
    const lines = faults.slice(0, faultsShown).map((fault) => `\n  ${fault}`);
    const rest = faults.length > faultsShown ? `\n  and ${faults.length - faultsShown} more` : "";
    throw usageFailure(
      `${file}: nothing was posted, as rows can't be read:${lines.join("")}${rest}`,
    );
  }
  if (entries.length === 0) {
    output.note(
      `${file} has no rows to post: ${rules.file} passes over all that it has, or it is empty`,
    );
  }
  if (dryRun) {
    if (output.isJson) for (const entry of entries) output.line(toJson(bodyOf(entry)));
    else output.list(entries, columnsOf(currency, entries), ({ externalId }) => externalId);
    output.note(`would post ${counted(entries.length, "entry", "entries")}; nothing was sent`);
    return exitCodes.done;
  }
  return postList(context, sourceOf(entries), 1);
}

const faultsShown = 20;

const columnsOf = (
  { code, exponent }: Currency,
  entries: readonly BankEntry[],
): readonly Column<BankEntry>[] => [
  { title: "LINE", align: "right", leaveOut: 1, value: ({ line }) => String(line) },
  { title: "DATE", value: ({ date }) => date },
  { title: "ACCOUNT", cutTo: 8, value: ({ account1 }) => account1 },
  ...(entries.some(({ transaction }) => transaction !== null) ? [transactionColumn] : []),
  {
    title: "AMOUNT",
    align: "right",
    isAmount: true,
    value: ({ amount }) => displayAmount(amount, code, exponent),
  },
  { title: "AGAINST", cutTo: 8, value: ({ account2 }) => account2 },
  { title: "DESCRIPTION", cutTo: 12, value: ({ description }) => description },
];

const transactionColumn: Column<BankEntry> = {
  title: "TRANSACTION",
  align: "right",
  isAmount: true,
  leaveOut: 2,
  value: ({ transaction }) =>
    transaction === null
      ? ""
      : displayAmount(
          transaction.amount,
          transaction.currency,
          currencyExponent(transaction.currency),
        ),
};

function bodyOf(entry: BankEntry): JsonObject {
  const { externalId, date, description, account1, account2, metadata } = entry;
  return {
    externalId,
    transactionDate: `${date}T00:00:00.000Z`,
    ...(description === "" ? {} : { description }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    lines: [
      { glAccountCode: account1, ...amountsOf(entry, 1n) },
      { glAccountCode: account2, ...amountsOf(entry, -1n) },
    ],
  };
}

/** The amounts of a line: those of account1, or with -1 their negations. */
function amountsOf({ amount, transaction }: BankEntry, sign: 1n | -1n): JsonObject {
  const functional = { functionalAmount: (sign * amount).toString() };
  if (transaction === null) return functional;
  const spotRate = spotRateOf(transaction.rate);
  return {
    ...functional,
    transactionAmount: (sign * transaction.amount).toString(),
    transactionCurrency: transaction.currency,
    ...(spotRate === null ? {} : { spotRate }),
  };
}

/** The entries as those of a file that has been read. */
function sourceOf(entries: readonly BankEntry[]): EntrySource {
  async function* all(): AsyncGenerator<FileEntry> {
    for (const entry of entries) {
      yield { line: entry.line, externalId: entry.externalId, body: bodyOf(entry) };
    }
  }
  return {
    isSingle: false,
    bytesTotal: null,
    bytesRead: () => 0,
    stop: () => undefined,
    entries: all(),
  };
}
