#!/usr/bin/env node
import module from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

// Node 22 and later keep what they compiled. In a folder of the user's own: code from a shared one could be anybody's.
try {
  module.enableCompileCache?.(join(homedir(), ".cache", "ledgerctl"));
} catch {
  // A user without a home starts a little later.
}
await import("../dist/cli/main.js");
