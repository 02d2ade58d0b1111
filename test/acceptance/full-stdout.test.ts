// Results that can't be written, since stdout leads to a disk that is full: a failure that says so.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { programCommand } from "../support/server-process.ts";

const message = "stdout can't be written: the disk is full";
const error = { code: null, message, exit: 1, status: null, requestId: null };

it.each([
  { args: ["help", "exit-codes"], told: `ledgerctl: ${message}\n` },
  { args: ["config", "list", "--json"], told: `${JSON.stringify({ error })}\n` },
])("$args says that the disk is full", async ({ args, told }) => {
  const [program, ...rest] = programCommand;
  const full = openSync("/dev/full", "w");
  const child = spawn(program, [...rest, ...args], { stdio: ["ignore", full, "pipe"] });
  closeSync(full);
  const ended = once(child, "close");
  const stderr = child.stderr === null ? "" : await text(child.stderr);
  expect({ ended: await ended, stderr }).toEqual({ ended: [1, null], stderr: told });
});
