// `entry post` of an entry that flags describe: by themselves, as changes of an old entry, or as what an editor opens with.
import { randomUUID } from "node:crypto";
import type { Environment } from "../../../config.ts";
import type { EntryInput } from "../../../client/ledger-client.ts";
import { Exponents } from "../../connection/exponents.ts";
import { withService, type ServiceContext } from "../../connection/service-context.ts";
import { entryIdHint, exitCodes, usageFailure, type ExitCode } from "../../failure.ts";
import { requireId } from "../../input/arguments.ts";
import type { LedgerUnits } from "../../input/typed-amount.ts";
import { Output } from "../../terminal/output.ts";
import type { ServiceFlags } from "../../definition/options.ts";
import { entryOfFlags, readLineFlags, type EntryFlags } from "./entry-flags.ts";
import { likeEntry } from "./like.ts";
import { postOne } from "./post-one.ts";
import { noteContent, noteWorth, sumFault } from "./worth-notes.ts";

export interface FlagEntryFlags extends ServiceFlags, EntryFlags {
  /** The id of an entry. */
  like?: string;
  edit?: boolean;
  dryRun?: boolean;
}

/** Of whole numbers that are of no other currency, nothing depends on the ledger. */
const unitsOfAnyLedger: LedgerUnits = {
  functionalCurrency: "",
  exponentOf: () => 0,
  isMajor: false,
};

export async function postFromFlags(
  flags: FlagEntryFlags,
  environment: Environment,
): Promise<ExitCode> {
  // Mistakes in the flags are told before anything is asked of the service.
  const lines = readLineFlags(flags);
  const like = flags.like === undefined ? null : requireId("--like", flags.like, entryIdHint);
  const isWhole =
    like === null &&
    flags.major !== true &&
    flags.edit !== true &&
    lines.every(({ amount }) => amount.currency === null);
  const whole = entryOfFlags(flags, isWhole ? lines : [], unitsOfAnyLedger);
  if (isWhole && flags.dryRun === true) {
    return dryRun(whole, null, new Output(flags, environment.isColorRefused));
  }
  return withService(flags, environment, async (context) => {
    if (isWhole) return post(context, whole);
    const { client, ledgerId, output } = context;
    const id = ledgerId();
    const { functionalCurrency } = await client.getLedger(id);
    const old = like === null ? null : await client.getEntry(id, like);
    const exponents = new Exponents(client, id);
    await exponents.learn([
      functionalCurrency,
      ...lines.flatMap(({ amount }) => amount.currency ?? []),
      ...(old?.lines ?? []).map(({ transactionCurrency }) => transactionCurrency),
    ]);
    const isMajor = flags.major === true;
    const units = { functionalCurrency, exponentOf: exponents.of, isMajor };
    const given = entryOfFlags(flags, lines, units);
    const entry = old === null ? given : likeEntry(old, given);
    if (flags.edit === true) {
      const { editEntry } = await import("./edit.ts");
      return editEntry(context, { ...flags, editor: environment.editor }, entry, {
        exponents,
        functionalCurrency,
      });
    }
    noteWorth(output, entry, units);
    const ofSum = isMajor ? sumFault(entry.lines, units) : null;
    if (ofSum !== null) throw usageFailure(ofSum);
    if (flags.dryRun === true) return dryRun(entry, functionalCurrency, output);
    if (old !== null) noteContent(output, entry, units);
    return post(context, entry);
  });
}

async function post(context: ServiceContext, entry: EntryInput): Promise<ExitCode> {
  await postOne(context, entry);
  return exitCodes.done;
}

async function dryRun(
  entry: EntryInput,
  currency: string | null,
  output: Output,
): Promise<ExitCode> {
  const { checkEntry } = await import("./dry-run.ts");
  return checkEntry({ ...entry, externalId: entry.externalId ?? randomUUID() }, currency, output);
}
