// A plain GET of the path of a stream; upgrades never come here.
import { Refusal } from "../../core/errors.ts";
import type { RouteHandler } from "./route-handler.ts";

const refuse = () => {
  throw new Refusal("upgradeRequired", "this path is a WebSocket; send Upgrade: websocket");
};

export const streamWallet: RouteHandler<"streamWallet"> = refuse;
export const followEntries: RouteHandler<"followEntries"> = refuse;
