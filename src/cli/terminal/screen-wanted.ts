// Whether a command that has a live screen shows it. Apart from the screens, which take long to load.
import type { Environment } from "../../config.ts";
import type { Output } from "./output.ts";

/** On a terminal that can move its cursor, unless lines were asked for. */
export function isScreenWanted(output: Output, environment: Environment): boolean {
  return process.stdout.isTTY && !output.isJson && environment.term !== "dumb";
}
