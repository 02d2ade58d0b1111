// What a check found: all of it counted, the first few in words.

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** How many things were looked at. */
  readonly checked: number;
  readonly findings: readonly string[];
}

const wordedMax = 20;

export class Findings {
  readonly #texts: string[] = [];
  #count = 0;

  constructor(texts: Iterable<string> = []) {
    for (const text of texts) this.add(text);
  }

  add(text: string): void {
    this.#count += 1;
    if (this.#texts.length < wordedMax) this.#texts.push(text);
  }

  /** The check that these are the findings of. */
  check(name: string, checked: number): Check {
    const more = this.#count - this.#texts.length;
    const findings = more === 0 ? this.#texts : [...this.#texts, `and ${more} more`];
    return { name, ok: this.#count === 0, checked, findings };
  }
}
