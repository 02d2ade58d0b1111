// For Node's --require: what shows that a command is offline.

/** Ends the process, with a code that no command has, where it would reach for anything but the file. */
export const offlineGuard = `
  const fs = require("node:fs"), net = require("node:net"), child = require("node:child_process");
  const stop = (what) => () => { fs.writeSync(2, "reached for " + what); process.exit(99); };
  net.Socket.prototype.connect = net.Server.prototype.listen = stop("a socket");
  require("node:dgram").createSocket = stop("a socket");
  require("node:dns").lookup = stop("a name");
  child.spawn = child.execFile = child.fork = stop("a process");
  for (const of of [fs, fs.promises]) {
    for (const name of ["open", "readFile", "readFileSync", "openSync"]) {
      const real = of[name];
      if (real === undefined) continue;
      of[name] = (path, ...rest) =>
        String(path).includes("config") ? stop("configuration")() : real.call(of, path, ...rest);
    }
  }
  require("node:module").syncBuiltinESMExports();
`;
