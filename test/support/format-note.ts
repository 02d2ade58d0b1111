// Signed notes as they travel, of signatures that tests have chosen.
import { formatSignatureLine, type Note } from "../../src/core/note.ts";

/** Text, empty line, signatures. */
export function formatNote({ text, signatures }: Note): string {
  return `${text}\n${signatures.map(formatSignatureLine).join("")}`;
}
