/** The columns of a terminal; null for what is none, or one that does not say how wide it is. */
export function terminalWidth({ isTTY, columns }: NodeJS.WriteStream): number | null {
  return isTTY ? columns || null : null;
}
