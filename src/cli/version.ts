// The version of the program, from its package.json.
import { readFileSync } from "node:fs";

/** Two folders up, from the sources and from the bundle alike. */
export function programVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
