// SIGHUP, which asks a server to read its certificate again; test/acceptance/hangups.test.ts sends it to real ones.
import { expect, it } from "vitest";
import { keepHangups, stopsOnHangup } from "../../src/server/stop-signals.ts";

it("hands on a hangup that came before somebody took them, once, and each later one", () => {
  const onHangup = keepHangups();
  process.emit("SIGHUP");
  process.emit("SIGHUP");
  let taken = 0;
  onHangup(() => (taken += 1));
  expect(taken).toBe(1);
  process.emit("SIGHUP");
  expect(taken).toBe(2);
});

it("never stops a server that has a certificate to read", () => {
  expect(stopsOnHangup(true)).toBe(false);
});
