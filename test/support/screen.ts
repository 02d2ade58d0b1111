// The built binary's live screens on a terminal that tests have in their hands: its size, its keys, and the state
// that it is left in. Python makes it, since Node can't.
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { python } from "./python.ts";
import { programCommand } from "./server-process.ts";

/**
 * Runs a program on a new terminal. Commands come as JSON lines on stdin; what the terminal is sent goes to stdout,
 * and at the end one line to stderr: the exit code, and whether the terminal echoes and gathers lines as it did.
 */
const bridge = `
import fcntl, json, os, pty, select, signal, struct, subprocess, sys, termios
columns, rows = int(sys.argv[1]), int(sys.argv[2])
master, slave = pty.openpty()
def resize(columns, rows):
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
resize(columns, rows)
def own_terminal():
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
child = subprocess.Popen(sys.argv[3:], stdin=slave, stdout=slave, stderr=slave, preexec_fn=own_terminal)
pending = b""
while True:
    is_over = child.poll() is not None
    ready, _, _ = select.select([master, 0], [], [], 0.02)
    if master in ready:
        os.write(1, os.read(master, 65536))
    elif is_over:
        break
    if 0 in ready:
        read = os.read(0, 65536)
        if read == b"":
            child.kill()
            break
        pending += read
        *lines, pending = pending.split(b"\\n")
        for line in lines:
            command = json.loads(line)
            if "keys" in command:
                os.write(master, command["keys"].encode())
            if "size" in command:
                resize(*command["size"])
            if "signal" in command and child.poll() is None:
                child.send_signal(getattr(signal, command["signal"]))
flags = termios.tcgetattr(slave)[3]
wanted = termios.ICANON | termios.ECHO | termios.ISIG
sys.stderr.write(json.dumps({"code": child.wait(), "isCooked": flags & wanted == wanted}) + "\\n")
`;
import { withoutProgress } from "./terminal.ts";
import { until } from "./until.ts";

export interface ScreenEnd {
  /** Negative where a signal ended it. */
  readonly code: number;
  /** Whether the terminal echoes and gathers lines, as before. */
  readonly isCooked: boolean;
}

export class TestScreen {
  readonly #child: ChildProcess;
  readonly #ended: Promise<ScreenEnd>;
  /** All that the terminal was sent. */
  output = "";

  constructor(args: readonly string[], env: Readonly<Record<string, string>>, size = [110, 24]) {
    const command = ["-c", bridge, ...size.map(String), ...programCommand, ...args];
    const child = spawn(python, command, {
      env: { PATH: process.env["PATH"] ?? "", TERM: "xterm-256color", ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child = child;
    child.stdin.on("error", () => undefined);
    child.stdout.setEncoding("utf8").on("data", (text: string) => (this.output += text));
    this.#ended = new Promise((resolve, reject) => {
      let report = "";
      createInterface({ input: child.stderr }).on("line", (line) => (report = line));
      child.once("error", reject);
      child.once("close", () => {
        try {
          resolve(JSON.parse(report) as ScreenEnd);
        } catch {
          reject(new Error(`the terminal ended with: ${report}`));
        }
      });
    });
  }

  press(keys: string): void {
    this.#send({ keys });
  }

  resize(columns: number, rows: number): void {
    this.#send({ size: [columns, rows] });
  }

  signal(name: "SIGTERM" | "SIGINT" | "SIGHUP"): void {
    this.#send({ signal: name });
  }

  /** All that stays of it where lines are printed and no screen is drawn. */
  get printed(): string {
    return withoutProgress(this.output);
  }

  /** The lines of the last frame that was drawn whole. */
  get frame(): string[] {
    const frames = this.output.split(/\u001b\[\?2026h/).slice(1);
    const whole = frames.filter((frame) => frame.includes("\u001b[?2026l"));
    const last = whole.findLast((frame) => /q quit|esc clear/.test(frame)) ?? "";
    return last
      .replace(/\u001b\[\?2026l[^]*/, "")
      .replace(/\u001b\[[0-9;?]*[A-Za-z]/g, "")
      .trimEnd()
      .split("\r\n");
  }

  /** Resolves when the last frame holds this; throws, with the frame, when that takes too long. */
  async until(expected: RegExp | string): Promise<void> {
    const holds = (text: string) =>
      typeof expected === "string" ? text.includes(expected) : expected.test(text);
    await until(String(expected), () => holds(this.frame.join("\n"))).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${this.frame.join("\n")}`);
    });
  }

  async ended(): Promise<ScreenEnd> {
    return this.#ended;
  }

  #send(command: object): void {
    this.#child.stdin?.write(`${JSON.stringify(command)}\n`);
  }
}

/** How a terminal is that was left in order: the screen before, the cursor seen, and in this order. */
export function isLeftClean(output: string): boolean {
  const last = (sequence: string) => output.lastIndexOf(sequence);
  return (
    last("\u001b[?1049l") > last("\u001b[?1049h") &&
    last("\u001b[?25h") > last("\u001b[?25l") &&
    last("\u001b[?2026l") >= last("\u001b[?2026h")
  );
}

/** What is seen on the terminal once the screen has been left; the cursor may be shown once more. */
export function afterScreen(output: string): string {
  const [rest = ""] = output.split("\u001b[?1049l").slice(-1);
  return withoutProgress(rest).replaceAll("\u001b[?25h", "");
}
