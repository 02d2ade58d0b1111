// JSON for a person to read: one member a line, and every number and text as it was written.

/** A text, or a mark of structure, or what stands between them. */
const token = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^[\]{},:"\s]+/g;

/** The same JSON with two blanks a level; what is no JSON stays as it is. */
export function indentedJson(text: string): string {
  if (!/^\s*[{[]/.test(text) || !isJson(text)) return text;
  let level = 0;
  let shown = "";
  const line = () => `\n${"  ".repeat(level)}`;
  for (const [part] of text.matchAll(token)) {
    if (part === "{" || part === "[") {
      level += 1;
      shown += part + line();
    } else if (part === "}" || part === "]") {
      level -= 1;
      const isEmpty = /[{[]\s*$/.test(shown);
      shown = isEmpty ? shown.trimEnd() + part : shown + line() + part;
    } else if (part === ",") shown += part + line();
    else shown += part === ":" ? ": " : part;
  }
  return shown;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
