// What a check found: all of it counted, the first few in words.

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** How many things were looked at. */
  readonly checked: number;
  readonly findings: readonly string[];
}

const wordedMax = 20;

/** The check that `found` are the findings of. */
export function checkOf(name: string, checked: number, found: readonly string[]): Check {
  const more = found.length - wordedMax;
  const findings = more > 0 ? [...found.slice(0, wordedMax), `and ${more} more`] : found;
  return { name, ok: found.length === 0, checked, findings };
}
