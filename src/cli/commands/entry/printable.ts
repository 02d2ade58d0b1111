// Text of others on our user's terminal.

/** Shows control characters as escapes, so that no entry can command a terminal or break a line. */
export function printable(text: string): string {
  return text.replace(
    /\p{Cc}/gu,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
