// Text as HTML.

/** What is no markup. */
export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** A line of the document's prose: code in backticks. */
export function inline(text: string): string {
  return escaped(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

/** Paragraphs, lists and headings of the document's prose, as much of CommonMark as it uses. */
export function prose(text: string): string {
  return text
    .split("\n\n")
    .map((block) => {
      if (block.startsWith("## ")) {
        const title = block.slice(3);
        return `<h2 id="${title.toLowerCase()}">${inline(title)}</h2>`;
      }
      if (block.startsWith("```")) return codeBlock(block.replace(/^```\n|\n```$/g, ""));
      if (!block.startsWith("- ")) return `<p>${inline(block)}</p>`;
      const items = block.split("\n").map((item) => `<li>${inline(item.slice(2))}</li>`);
      return `<ul>${items.join("\n")}</ul>`;
    })
    .join("\n");
}

/** A value as it travels, or code. */
export function codeBlock(value: unknown): string {
  const text = typeof value === "string" ? value.trimEnd() : JSON.stringify(value, null, 2);
  return `<pre tabindex="0">${escaped(text)}</pre>`;
}
