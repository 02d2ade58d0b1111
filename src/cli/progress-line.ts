// One line of the terminal that rewrites itself while something long is under way; silent anywhere else.

const intervalMs = 200;

export class ProgressLine {
  readonly #timer: NodeJS.Timeout | null;
  #describe: () => string = () => "";
  #shownLength = 0;

  constructor(isWanted: boolean) {
    this.#timer =
      isWanted && process.stderr.isTTY
        ? setInterval(() => {
            this.#show();
          }, intervalMs)
        : null;
  }

  /** From now on the line says this. */
  tell(describe: () => string): void {
    this.#describe = describe;
  }

  end(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    if (this.#shownLength > 0) process.stderr.write(`\r${" ".repeat(this.#shownLength)}\r`);
    this.#shownLength = 0;
  }

  #show(): void {
    // A terminal may not know its width.
    const width = process.stderr.columns > 0 ? process.stderr.columns : 80;
    const text = this.#describe().slice(0, width - 1);
    process.stderr.write(`\r${text.padEnd(this.#shownLength)}`);
    this.#shownLength = text.length;
  }
}
