// What a single executable runs first: it lets Node import the program's modules from the executable's assets, and
// imports the command line. Only the Node inside the executable runs this.
const { enableCompileCache, registerHooks } = require("node:module");
const { homedir } = require("node:os");
const { join } = require("node:path");
const { getAsset } = require("node:sea");
const { pathToFileURL } = require("node:url");

// Modules seem to be in the executable as if it were a folder, so that no file can stand in the place of one.
const root = `${pathToFileURL(process.execPath).href}/`;
const main = `${root}dist/cli/main.js`;

registerHooks({
  resolve(specifier, context, nextResolve) {
    const isOurs =
      specifier === main ||
      (specifier.startsWith("./") && context.parentURL?.startsWith(root) === true);
    if (!isOurs) return nextResolve(specifier, context);
    const { href } = new URL(specifier, context.parentURL);
    return { url: href, format: "module", shortCircuit: true };
  },
  load(url, context, nextLoad) {
    if (!url.startsWith(root)) return nextLoad(url, context);
    const source = getAsset(url.slice(root.length), "utf8");
    return { source, format: "module", shortCircuit: true };
  },
});

// As in bin/ledgerctl.js.
try {
  enableCompileCache(join(homedir(), ".cache", "ledgerctl"));
} catch {
  // A user without a home starts a little later.
}

import(main);
