// Parameters of statements as the text that PostgreSQL reads (its manual, section 8.15.6 for arrays).

/**
 * The text of a parameter, bytes as they are, or null. Arrays become array literals, of however many
 * dimensions. Throws for what has no text of its own.
 */
export function parameterText(value: unknown): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (typeof value === "string") return value;
  // pg takes bytes that are no Buffer for text, and breaks off in the midst of a message.
  if (value instanceof Uint8Array) return asBuffer(value);
  if (Array.isArray(value)) return arrayText(value);
  return scalarText(value);
}

/** Texts are joined at once: put together piece by piece, columns took a sixth of the memory of a bulk. */
function arrayText(elements: readonly unknown[]): string {
  if (elements.length === 0) return "{}";
  if (elements.every(isPlainText)) return `{"${elements.join('","')}"}`;
  return `{${elements.map(elementText).join(",")}}`;
}

/** Whether an element has nothing to escape: looking costs less than replacing. */
function isPlainText(element: unknown): boolean {
  return typeof element === "string" && !element.includes('"') && !element.includes("\\");
}

function elementText(element: unknown): string {
  if (element === null) return "NULL";
  if (typeof element === "string") return quotedElement(element);
  if (element instanceof Uint8Array) return `"\\\\x${asBuffer(element).toString("hex")}"`;
  return Array.isArray(element) ? arrayText(element) : scalarText(element);
}

/** The same bytes, not a copy of them. */
function asBuffer(bytes: Uint8Array): Buffer {
  if (Buffer.isBuffer(bytes)) return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function scalarText(value: unknown): string {
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") {
    return value.toString();
  }
  throw new TypeError(`a parameter can't be a ${typeof value}`);
}

function quotedElement(text: string): string {
  return isPlainText(text) ? `"${text}"` : `"${text.replace(/["\\]/g, "\\$&")}"`;
}
