// Times for people.

/** `2026-03-15` for its midnight; another time as it is. */
export function dayOrTime(timestamp: string): string {
  return timestamp.replace(/T00:00:00\.000Z$/, "");
}

/** The same, and `2026-03-15T09:30:00Z` for another time of whole seconds. */
export function shortDate(timestamp: string): string {
  return dayOrTime(timestamp).replace(/\.000Z$/, "Z");
}
