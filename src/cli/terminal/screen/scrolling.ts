// Which part of a list is seen: the one with what is chosen.

export interface Scroll {
  /** The place in the list that is chosen, and the first one that is seen. */
  readonly chosen: number;
  readonly from: number;
}

/** The same, moved as little as it takes: within a list of `length`, of which `height` are seen at once. */
export function scrolledTo(scroll: Scroll, chosen: number, length: number, height: number): Scroll {
  const within = Math.max(0, Math.min(chosen, length - 1));
  const lowest = Math.max(0, Math.min(within, length - height));
  const from = Math.min(Math.max(scroll.from, within - height + 1, 0), lowest);
  return { chosen: within, from };
}

/** Where a key leads to; null for a key that does not scroll. */
export function scrollTarget(
  key: string,
  { chosen }: Scroll,
  length: number,
  height: number,
): number | null {
  const page = Math.max(1, height - 1);
  switch (key) {
    case "up":
    case "k":
      return chosen - 1;
    case "down":
    case "j":
      return chosen + 1;
    case "pageup":
      return chosen - page;
    case "pagedown":
      return chosen + page;
    case "home":
    case "g":
      return 0;
    case "end":
    case "G":
      return length - 1;
    default:
      return null;
  }
}
