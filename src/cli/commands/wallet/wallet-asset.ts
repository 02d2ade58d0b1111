// Of which asset a wallet is, which the API's figures don't say: a list of wallets does.
import type { LedgerClient, WalletAddress } from "../../../client/ledger-client.ts";
import { exponentsShown } from "../../connection/exponents.ts";
import { displayAmount } from "../../terminal/amounts.ts";
import type { Output } from "../../terminal/output.ts";

/** What a wallet's amounts are shown in. */
export interface WalletUnit {
  readonly assetCode: string;
  /** 0: in smallest units. */
  readonly exponent: number;
}

interface UnitContext {
  readonly client: LedgerClient;
  readonly output: Output;
}

/** The unit of a wallet; null where nothing was ever written to it, or where that can't be known. */
async function findUnit(
  { client, output }: UnitContext,
  { ledgerId, callerKey }: WalletAddress,
): Promise<WalletUnit | null> {
  try {
    // Of the names that begin with a name, that name itself comes first.
    const { wallets } = await client.listWallets(ledgerId, { prefix: callerKey, limit: 1 });
    const [first] = wallets;
    if (first?.callerKey !== callerKey) return null;
    const { assetCode } = first;
    const exponentOf = await exponentsShown({ client, output }, ledgerId, [assetCode]);
    return { assetCode, exponent: exponentOf(assetCode) };
  } catch {
    // Such as a key without the scope: no failure of the command, which shows smallest units then.
    return null;
  }
}

/** How amounts in text are shown: in a unit with its asset; without one and with `--minor` as they are. */
export function shownIn(unit: WalletUnit | null, output: Output): (amount: string) => string {
  if (unit === null || output.isMinor) return (amount) => output.grouped(amount);
  return (amount) => output.grouped(displayAmount(amount, unit.assetCode, unit.exponent));
}

/** How a wallet's amounts are shown in text. */
export async function amountsOf(
  output: Output,
  client: LedgerClient,
  wallet: WalletAddress,
): Promise<(amount: string) => string> {
  const isAsIs = output.isForPrograms || output.isQuiet || output.isMinor;
  const unit = isAsIs ? null : await findUnit({ client, output }, wallet);
  return shownIn(unit, output);
}

/** The units of several wallets by the names that a command has for them. */
export class WalletUnits {
  readonly #context: UnitContext;
  readonly #wallets: ReadonlyMap<string, WalletAddress>;
  readonly #units = new Map<string, WalletUnit>();

  constructor(
    context: UnitContext,
    wallets: readonly { readonly key: string; readonly wallet: WalletAddress }[],
  ) {
    this.#context = context;
    this.#wallets = new Map(wallets.map(({ key, wallet }) => [key, wallet]));
  }

  /** Asks for the unit of a wallet, unless it is known: it never changes. */
  async learn(key: string): Promise<void> {
    const wallet = this.#wallets.get(key);
    if (wallet === undefined || this.#units.has(key)) return;
    const unit = await findUnit(this.#context, wallet);
    if (unit !== null) this.#units.set(key, unit);
  }

  /** Null where it is not known. */
  readonly of = (key: string): WalletUnit | null => this.#units.get(key) ?? null;
}
