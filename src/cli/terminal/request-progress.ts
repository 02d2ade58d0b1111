// What a terminal shows while the service works on an answer.
import { ProgressLine, waitingFor } from "./progress-line.ts";

/** A line from the second second of a request on, until it is answered. Requests at once share it. */
export class RequestProgress {
  readonly #isWanted: boolean;
  #line: ProgressLine | null = null;
  #underWay = 0;

  constructor(isWanted: boolean) {
    this.#isWanted = isWanted;
  }

  begin(): void {
    this.#underWay += 1;
    if (this.#line !== null) return;
    this.#line = new ProgressLine(this.#isWanted);
    this.#line.tell(waitingFor("the service is at work"));
  }

  end(): void {
    this.#underWay -= 1;
    if (this.#underWay > 0) return;
    this.#line?.end();
    this.#line = null;
  }
}
