// The version of the program: its package.json is part of the bundle.
import packageJson from "../../package.json" with { type: "json" };

export function programVersion(): string {
  return packageJson.version;
}
