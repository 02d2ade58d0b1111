// How much of long answers is kept in memory for readers that have not taken them yet.
import type { ServerResponse } from "node:http";
import { isOver } from "./exchanges.ts";

/** Shorter answers are always kept. */
const longAnswerBytes = 64 * 1024;
/** Of one UTF-16 code unit. */
const utf8BytesMax = 3;

/** A budget of bytes for long answers: of all of them, and of one reader's. */
export class ResponseBuffer {
  readonly #bytesMax: number;
  readonly #readerBytesMax: number;
  #bytes = 0;
  readonly #bytesByReader = new Map<string, number>();

  constructor(bytesMax: number, readerBytesMax = bytesMax) {
    this.#bytesMax = bytesMax;
    this.#readerBytesMax = readerBytesMax;
  }

  /**
   * Counts an answer, or so many bytes of one, until it is sent whole or its connection is gone. False, and nothing is
   * counted, where that would exceed the budget; an empty buffer takes any one answer.
   */
  reserve(response: ServerResponse, answer: string | number, reader: string): boolean {
    if (typeof answer === "string" && answer.length * utf8BytesMax < longAnswerBytes) return true;
    const bytes = typeof answer === "string" ? Buffer.byteLength(answer) : answer;
    if (bytes < longAnswerBytes || isOver(response)) return true;
    if (this.#bytes + bytes > this.#bytesMax && this.#bytes > 0) return false;
    const reserved = this.#bytesByReader.get(reader) ?? 0;
    if (reserved + bytes > this.#readerBytesMax && reserved > 0) return false;
    this.#add(reader, bytes);
    response.once("close", () => {
      this.#add(reader, -bytes);
    });
    return true;
  }

  #add(reader: string, bytes: number): void {
    this.#bytes += bytes;
    const reserved = (this.#bytesByReader.get(reader) ?? 0) + bytes;
    if (reserved > 0) this.#bytesByReader.set(reader, reserved);
    else this.#bytesByReader.delete(reader);
  }
}
