// What a command that follows something says of its connection.
import type { Output } from "../terminal/output.ts";
import { printable } from "../terminal/printable.ts";

/** Tells on stderr when a connection is lost, once however often it is tried, and when it is there again. */
export function connectionTeller(
  output: Output,
  name: string,
): (state: "connected" | "lost") => void {
  let isLost = false;
  return (state) => {
    if (isLost === (state === "lost")) return;
    isLost = state === "lost";
    const event = isLost ? "the connection is lost; reconnecting" : "connected again";
    output.note(`ledgerctl: ${printable(name)}: ${event}`);
  };
}
