// Finds out that a host was promoted over the one that serves, although that one still answers.
import { Client } from "pg";
import { connectionTarget, type DatabaseHost } from "./connection-url.ts";
import type { DatabaseHosts, HostState } from "./hosts.ts";
import { timelineText } from "./session.ts";

const answerTimeoutMs = 2_000;

const stateText = `
  SELECT pg_is_in_recovery() AS "isStandby",
         CASE WHEN NOT pg_is_in_recovery() THEN ${timelineText} END AS timeline`;

/** A session to one host, which is kept while another host serves: databases may log each that is opened. */
export class HostProbe {
  readonly #hosts: DatabaseHosts;
  readonly #host: DatabaseHost;
  #client: Client | null = null;

  constructor(hosts: DatabaseHosts, host: DatabaseHost) {
    this.#hosts = hosts;
    this.#host = host;
  }

  /** Asks the host, and has it serve if it was promoted. A host that can't be asked is no trouble: another one serves. */
  async look(): Promise<void> {
    const { serving } = this.#hosts;
    if (serving === null || serving === this.#host) {
      this.cut();
      return;
    }
    // A host that hangs accepts connections and says nothing: the time is for all of it.
    const timer = setTimeout(() => {
      this.cut();
    }, answerTimeoutMs);
    try {
      this.#client ??= await this.#connect();
      const { rows } = await this.#client.query<HostState>(stateText);
      const [state] = rows;
      if (state !== undefined && this.#hosts.isSupersededBy(state)) this.#takeOver(state);
    } catch {
      this.cut();
    } finally {
      clearTimeout(timer);
    }
  }

  cut(): void {
    this.#client?.connection.stream.destroy();
    this.#client = null;
  }

  async #connect(): Promise<Client> {
    const { url, ssl } = connectionTarget(this.#host.url, "ledgerctl host watch");
    const client = new Client({ connectionString: url, ssl, keepAlive: true });
    // What breaks while it is idle fails the next look.
    client.on("error", () => undefined);
    // From here on, so that it can be cut.
    this.#client = client;
    await client.connect();
    return client;
  }

  /** From now on new sessions are opened there, and all others are cut. This one is not needed there any more. */
  #takeOver(state: HostState): void {
    this.#hosts.adopt(this.#host, this, state);
    this.#hosts.forget(this);
    this.cut();
  }
}
