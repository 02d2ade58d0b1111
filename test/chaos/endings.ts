// What was begun, and how it is ended: in the opposite order.

/** `keep`: its files are wanted. */
type Ending = (keep: boolean) => Promise<unknown>;

export class Endings {
  readonly #endings: Ending[] = [];

  /** Says how something ends that begins now. */
  add(ending: Ending): void {
    this.#endings.push(ending);
  }

  /** Ends all, even where one of them fails. */
  async carryOut(keep: boolean): Promise<void> {
    for (;;) {
      const ending = this.#endings.pop();
      if (ending === undefined) return;
      await ending(keep).catch(() => undefined);
    }
  }
}
