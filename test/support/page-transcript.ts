// Commands in a page of the docs, as a terminal shows them: what somebody types, and what it prints.

export interface PageCommand {
  /** The heading that it stands below. */
  readonly section: string;
  /** Without the prompts, the lines of a command as they are typed. */
  readonly command: string;
  /** Its lines; `…` stands for any. */
  readonly output: readonly string[];
}

/** The commands of all `console` blocks, in order. A line that begins with `> ` continues the command before. */
export function commandsOfPage(page: string): PageCommand[] {
  const commands: PageCommand[] = [];
  let section = "";
  let current: { section: string; command: string; output: string[] } | null = null;
  let fence: string | null = null;
  for (const line of page.split("\n")) {
    if (line.startsWith("```")) {
      fence = fence === null ? line.slice(3) : null;
      current = null;
    } else if (fence === null) section = /^#+ (.+)$/.exec(line)?.[1] ?? section;
    else if (fence === "console") {
      if (line.startsWith("$ ")) {
        current = { section, command: line.slice(2), output: [] };
        commands.push(current);
      } else if (line.startsWith("> ") && current?.output.length === 0) {
        current.command += `\n${line.slice(2)}`;
      } else current?.output.push(line);
    }
  }
  return commands;
}

/** The files that a page shows: blocks below a paragraph that ends with the file's name, by name. */
export function filesOfPage(page: string): ReadonlyMap<string, string> {
  const shown = page.matchAll(/`([\w.-]+)`[:.]\n\n```(?:csv|text|json|python)\n([^]*?)^```$/gm);
  return new Map(Array.from(shown, ([, name = "", content = ""]) => [name, content]));
}

/** Words for all that differs from one run to the next: ids, hashes, keys, signatures and times. */
export function masked(text: string): string {
  return text
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID")
    .replace(/\+[0-9a-f]{8}\+[A-Za-z0-9+/]{40,}={0,2}/g, "+KEY")
    .replace(/[0-9a-f]{64}/g, "HASH")
    .replace(/^[A-Za-z0-9+/]{43}=$/gm, "ROOT")
    .replace(/^(— \S+ )[A-Za-z0-9+/]{80,}={0,2}$/gm, "$1SIGNATURE")
    .replace(/(?!\S*T00:00:00\.000Z)[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(?:\.[0-9]{3})?Z/g, "TIME")
    .replace(/[0-9]{8}T[0-9]{6}\.[0-9]{3}Z/g, "TIME")
    .replace(/ in [0-9.]+ s \([0-9]+\/s\)$/gm, " in TIME");
}

/** Whether what was printed is what the page has. */
export function isTranscript(output: readonly string[], printed: string): boolean {
  const lines = masked(printed.trimEnd()).split("\n");
  const expected = masked(output.join("\n").trimEnd()).split("\n");
  const matches = (at: number, from: number): boolean => {
    const line = expected[at];
    if (line === undefined) return from === lines.length;
    if (line !== "…") return lines[from] === line && matches(at + 1, from + 1);
    return lines.slice(from).some((_, skipped) => matches(at + 1, from + skipped + 1));
  };
  return matches(0, 0);
}
