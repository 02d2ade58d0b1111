#!/bin/sh
':' //; NODE_OPTIONS="--max-semi-space-size=64 ${NODE_OPTIONS-}" exec node "$0" "$@"
// To a shell the line above is a command, to Node a string and a comment: Node takes its room for new objects only
// from how it is started, and by itself takes too little for hundreds of requests at once. What is set already wins.
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
