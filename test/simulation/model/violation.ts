// What a history shows to be wrong.

export interface Violation {
  /** The rule that does not hold: one word or two, equal for all that breaks it. */
  readonly rule: string;
  readonly detail: string;
}

/** Collects what is wrong. */
export class Violations {
  readonly found: Violation[] = [];

  /** Notes a violation unless something holds. */
  expect(holds: boolean, rule: string, detail: () => string): void {
    if (!holds) this.found.push({ rule, detail: detail() });
  }
}

/** A value for a person: bigints and refusals too. */
export function shown(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member === "bigint") return String(member);
    return member instanceof Error ? Object.assign({ message: member.message }, member) : member;
  });
}
