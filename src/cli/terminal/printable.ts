// Text of others on our user's terminal.

/**
 * What can command a terminal (C0, DEL and C1: some terminals take U+009B for ESC [) or make a text look like
 * another (the controls of writing direction).
 */
const control = /[\p{Cc}\p{Bidi_Control}]/gu;
const controlOrLineEnd = /\n|[\p{Cc}\p{Bidi_Control}]/gu;

/** Shows control characters as escapes, so that no text can command a terminal or break a line. */
export function printable(text: string): string {
  return text.replace(control, escaped);
}

/** The same for a text of several lines: their ends stay. */
export function printableLines(text: string): string {
  return text.replace(controlOrLineEnd, (found) => (found === "\n" ? found : escaped(found)));
}

/** JSON leaves DEL and C1 as they are; escaped in its own way, they are the same value and command nothing. */
export function printableJson(json: string): string {
  return json.replace(/[\u007f-\u009f]/g, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
