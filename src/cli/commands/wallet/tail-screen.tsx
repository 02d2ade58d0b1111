// `wallet tail` as a live screen: messages change what is known, and frames show it, far fewer than messages come.
import type { LedgerClient, WalletAddress } from "../../../client/ledger-client.ts";
import { runScreen } from "../../terminal/screen/run-screen.ts";
import { changeTail, startTail, type TailEvent } from "./tail-state.ts";
import { TailView, walletRows } from "./tail-view.tsx";
import type { WalletUnits } from "./wallet-asset.ts";

export interface TailedWallet {
  readonly key: string;
  readonly wallet: WalletAddress;
  readonly balance: string;
  readonly available: string;
}

/** Four frames a second: figures that change faster can't be read. */
const frameMs = 250;

/** Shows wallets until the person quits; resolves with the exit code. Throws what a stream is refused with. */
export async function tailOnScreen(
  client: LedgerClient,
  wallets: readonly TailedWallet[],
  options: {
    readonly since?: number;
    readonly units: WalletUnits;
    readonly isColored: boolean;
  },
): Promise<number> {
  const { since, units, isColored } = options;
  let state = startTail(since === undefined ? wallets : await figuresAt(client, wallets, since));
  const change = (event: TailEvent) => {
    state = changeTail(state, event, Date.now());
  };
  // A stream begins with what comes after it was made; what came between the first figures and that is read once
  // more. A read that fails is left: what is wrong, the stream will tell.
  const readFigures = async (wallet: WalletAddress, index: number) => {
    const figures = await client.getWalletBalance(wallet).catch(() => null);
    if (figures !== null) change({ type: "figures", index, figures });
  };
  const streams = wallets.map(({ wallet }, index) =>
    client.streamWallet(wallet, {
      ...(since === undefined ? {} : { since }),
      onConnection: (now) => {
        change({ type: "stream", index, state: now });
        if (now === "connected" && since === undefined) void readFigures(wallet, index);
      },
    }),
  );
  try {
    return await runScreen({
      draw: (size) => (
        <TailView
          state={state}
          nowMs={Date.now()}
          size={size}
          unitOf={units.of}
          isColored={isColored}
        />
      ),
      onKey: (key, size) => {
        change({ type: "key", key, height: walletRows(state, size) });
      },
      frameMs,
      source: Promise.all(
        streams.map(async (stream, index) => {
          const key = wallets[index]?.key ?? "";
          let isFirst = true;
          for await (const message of stream) {
            change({ type: "message", index, message });
            // A wallet that was not there before is there now.
            if (isFirst) void units.learn(key);
            isFirst = false;
          }
        }),
      ),
    });
  } finally {
    for (const stream of streams) stream.close();
  }
}

/** Wallets with their figures at a seq, from which the replay goes on. */
async function figuresAt(
  client: LedgerClient,
  wallets: readonly TailedWallet[],
  seq: number,
): Promise<TailedWallet[]> {
  return Promise.all(
    wallets.map(async (one) => {
      if (seq === 0) return { ...one, balance: "0", available: "0" };
      const { writes } = await client.listWalletWrites(one.wallet, { after: seq - 1, limit: 1 });
      const [write] = writes;
      if (write === undefined) return one;
      const { balance, held } = write;
      return { ...one, balance, available: (BigInt(balance) - BigInt(held)).toString() };
    }),
  );
}
