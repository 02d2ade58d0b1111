// The screen of `wallet tail`: a row a wallet, and one of them in detail. A view of props only.
import { Box, Text } from "ink";
import type { ReactElement } from "react";
import { majorText } from "../../terminal/amounts.ts";
import { counted } from "../../terminal/counted.ts";
import { printable } from "../../terminal/printable.ts";
import { lastSeconds, ratePerSecond } from "../../terminal/screen/activity.ts";
import { Frame, frameRows } from "../../terminal/screen/frame.tsx";
import type { ScreenSize } from "../../terminal/screen/run-screen.ts";
import { scrolledTo } from "../../terminal/screen/scrolling.ts";
import { sparkline } from "../../terminal/screen/sparkline.ts";
import { Table, type ScreenColumn } from "../../terminal/screen/table.tsx";
import type { WalletUnit } from "./wallet-asset.ts";
import {
  heldOf,
  shownWallets,
  totalRate,
  type Change,
  type TailState,
  type Wallet,
} from "./tail-state.ts";

export interface TailViewProps {
  readonly state: TailState;
  readonly nowMs: number;
  readonly size: ScreenSize;
  readonly unitOf: (key: string) => WalletUnit | null;
  readonly isColored: boolean;
}

const sparkSeconds = 20;
const detailSeconds = 60;
const detailRows = 9;
const amountWidthMin = 9;
const tableHeadRows = 1;
/** Longer names are cut before a column is left out for them. */
const nameWidthWanted = 24;

const keys = [
  ["↑↓", "scroll"],
  ["s", "sort"],
  ["r", "reverse"],
  ["p", "pause"],
  ["d", "detail"],
  ["q", "quit"],
] as const;

export function TailView(props: TailViewProps): ReactElement {
  const { state, nowMs, size, unitOf, isColored } = props;
  const { wallets, atMs } = shownWallets(state, nowMs);
  const height = walletRows(state, size);
  const scroll = scrolledTo(state.scroll, state.scroll.chosen, wallets.length, height);
  const seen = wallets.slice(scroll.from, scroll.from + height);
  const chosen = wallets[scroll.chosen];
  const lost = state.wallets.filter(({ stream }) => stream === "lost").length;
  return (
    <Frame
      size={size}
      isColored={isColored}
      title="wallet tail"
      facts={[
        placeOf(scroll.from, seen.length, wallets.length),
        `${totalRate(wallets, atMs).toFixed(1)} changes/s`,
        connectionOf(state.wallets),
        orderOf(state),
      ]}
      alarms={[
        ...(state.paused === null ? [] : ["PAUSED"]),
        ...(lost === 0 ? [] : [`${lost} lost, reconnecting`]),
      ]}
      keys={keys}
    >
      <Table
        columns={walletColumns(wallets, atMs, unitOf)}
        rows={seen}
        keyOf={({ key }) => key}
        chosenKey={chosen?.key ?? null}
        width={size.columns}
        isColored={isColored}
      />
      {hasDetail(state, size) && chosen !== undefined ? (
        <Detail wallet={chosen} atMs={atMs} unit={unitOf(chosen.key)} isColored={isColored} />
      ) : null}
    </Frame>
  );
}

/** Rows that the screen has for wallets. */
export function walletRows(state: TailState, size: ScreenSize): number {
  const rows = size.rows - frameRows - tableHeadRows;
  return Math.max(1, hasDetail(state, size) ? rows - detailRows : rows);
}

/** A low screen has no room for it. */
function hasDetail({ isDetailed }: TailState, { rows }: ScreenSize): boolean {
  return isDetailed && rows >= frameRows + tableHeadRows + detailRows + 1;
}

function placeOf(from: number, seen: number, all: number): string {
  const count = counted(all, "wallet");
  return seen === all ? count : `${from + 1} to ${from + seen} of ${count}`;
}

function orderOf({ sort, isReversed }: TailState): string {
  const order = sort === "as given" ? sort : `by ${sort}`;
  return isReversed ? `${order}, reversed` : order;
}

function connectionOf(wallets: readonly Wallet[]): string {
  const connected = wallets.filter(({ stream }) => stream === "connected").length;
  return connected === wallets.length ? "connected" : `${connected} connected`;
}

function walletColumns(
  wallets: readonly Wallet[],
  atMs: number,
  unitOf: TailViewProps["unitOf"],
): ScreenColumn<Wallet>[] {
  const amount = (
    title: string,
    spare: number,
    text: (wallet: Wallet) => string,
    color?: (wallet: Wallet) => string | undefined,
  ): ScreenColumn<Wallet> => ({
    title,
    align: "right",
    width: Math.max(amountWidthMin, ...wallets.map((wallet) => text(wallet).length)),
    spare,
    text,
    ...(color === undefined ? {} : { color }),
  });
  const assets = wallets.flatMap(({ key }) => unitOf(key)?.assetCode ?? []);
  return [
    {
      title: "WALLET",
      align: "left",
      width: Math.min(nameWidthWanted, Math.max(...wallets.map(({ key }) => key.length))),
      spare: 0,
      text: ({ key }) => printable(key),
    },
    ...(assets.length === 0 ? [] : [assetColumn(assets, unitOf)]),
    amount("BALANCE", 0, ({ key, balance }) => shown(balance, unitOf(key))),
    amount("AVAILABLE", 3, ({ key, available }) => shown(available, unitOf(key))),
    amount("HELD", 4, (wallet) => shown(heldOf(wallet), unitOf(wallet.key))),
    amount("CHANGE", 5, (wallet) => lastChange(wallet, unitOf(wallet.key)), changeColor),
    {
      title: "AGO",
      align: "right",
      width: 4,
      spare: 8,
      text: ({ changes: [last] }) => (last === undefined ? "" : ago(atMs - last.atMs)),
    },
    {
      title: "/s",
      align: "right",
      width: 6,
      spare: 2,
      text: ({ activity }) => ratePerSecond(activity, atMs).toFixed(1),
    },
    {
      title: `LAST ${sparkSeconds} s`,
      align: "left",
      width: sparkSeconds,
      spare: 6,
      text: ({ activity }) => sparkline(lastSeconds(activity, atMs, sparkSeconds)),
    },
    {
      title: "STREAM",
      align: "left",
      width: 10,
      spare: 7,
      text: ({ stream }) => stream,
      color: ({ stream }) => (stream === "lost" ? "red" : undefined),
    },
  ];
}

function assetColumn(
  assets: readonly string[],
  unitOf: TailViewProps["unitOf"],
): ScreenColumn<Wallet> {
  return {
    title: "ASSET",
    align: "left",
    width: Math.max("ASSET".length, ...assets.map(({ length }) => length)),
    spare: 1,
    text: ({ key }) => unitOf(key)?.assetCode ?? "",
  };
}

/** Of the balance or, where that stayed, of what is held. */
function lastChange({ changes: [last] }: Wallet, unit: WalletUnit | null): string {
  if (last === undefined) return "";
  return last.balance === 0n && last.held !== 0n
    ? `held ${signed(last.held, unit)}`
    : signed(last.balance, unit);
}

function changeColor({ changes: [last] }: Wallet): string | undefined {
  if (last === undefined || last.balance === 0n) return undefined;
  return last.balance > 0n ? "green" : "red";
}

/** In the unit's decimals, where it is known. */
function shown(amount: bigint, unit: WalletUnit | null): string {
  return majorText(amount, unit?.exponent ?? 0);
}

function signed(amount: bigint, unit: WalletUnit | null): string {
  return `${amount > 0n ? "+" : ""}${shown(amount, unit)}`;
}

/** `12s`, `3m`, `2h`. */
function ago(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 100) return `${seconds}s`;
  return seconds < 6_000 ? `${Math.floor(seconds / 60)}m` : `${Math.floor(seconds / 3600)}h`;
}

function Detail(props: {
  readonly wallet: Wallet;
  readonly atMs: number;
  readonly unit: WalletUnit | null;
  readonly isColored: boolean;
}): ReactElement {
  const { wallet, atMs, unit, isColored } = props;
  const posted = wallet.lastPostedAtMs;
  const figures = [wallet.balance, wallet.available, heldOf(wallet)];
  const [balance, available, held] = figures.map((figure) => shown(figure, unit));
  const facts = [
    `balance ${balance}, available ${available}, held ${held}${unit === null ? "" : ` ${unit.assetCode}`}`,
    wallet.seq === null ? "no change seen" : `seq ${wallet.seq}`,
    posted === null ? "no posting seen" : `posted ${ago(atMs - posted)} ago`,
  ];
  return (
    <Box flexDirection="column" height={detailRows}>
      <Text> </Text>
      <Text wrap="truncate" bold={isColored}>
        {printable(wallet.key)}
      </Text>
      <Text wrap="truncate">{facts.join("; ")}</Text>
      <Text wrap="truncate">
        {`${sparkline(lastSeconds(wallet.activity, atMs, detailSeconds))} last ${detailSeconds} s`}
      </Text>
      {wallet.changes.slice(0, detailRows - 4).map((change) => (
        <Text key={change.seq} wrap="truncate">
          {`${new Date(change.atMs).toISOString()}  seq ${change.seq}  ${describeChange(change, unit)}`}
        </Text>
      ))}
    </Box>
  );
}

function describeChange({ balance, held }: Change, unit: WalletUnit | null): string {
  // Whatever moves an amount changes one of them.
  if (balance === 0n && held === 0n) return "frozen, or not any more";
  return `balance ${signed(balance, unit)}${held === 0n ? "" : `  held ${signed(held, unit)}`}`;
}
