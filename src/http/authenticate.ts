// Who is calling: API key, timestamp and signature of a request.
import { Refusal } from "../core/errors.ts";
import type { Scope } from "../core/ledger.ts";
import {
  deriveApiSecret,
  isApiKey,
  isTimestampInWindow,
  masterKeyFingerprint,
  SigningKey,
} from "../core/signing.ts";
import type { ApiKeyRecord } from "../store/api-keys.ts";

export interface Caller {
  readonly apiKey: string;
  readonly organizationId: string;
  readonly scopes: readonly Scope[];
}

interface CachedKey extends Caller {
  readonly signingKey: SigningKey;
  readonly expiresAtMs: number;
  readonly fetchedAtMs: number;
}

export interface Credentials {
  readonly authorization: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string | undefined;
  readonly method: string;
  /** As it stands on the request line, not decoded. */
  readonly target: string;
  readonly body: Uint8Array | string;
}

interface AuthenticatorOptions {
  readonly findApiKey: (apiKey: string) => Promise<ApiKeyRecord | null>;
  readonly masterKeys: readonly Buffer[];
  /** How far X-Timestamp may be from the server's clock, both ways. */
  readonly clockWindowSeconds: number;
  readonly nowMs: () => number;
}

// Revocation has to take hold within 5 s; what remains is for the query itself.
const keyLifetimeMs = 4_000;
const cachedKeysMax = 10_000;

export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #masterKeys: ReadonlyMap<string, Buffer>;
  readonly #cache = new Map<string, CachedKey>();
  readonly #pending = new Map<string, Promise<CachedKey>>();

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.#masterKeys = new Map(options.masterKeys.map((key) => [masterKeyFingerprint(key), key]));
  }

  /**
   * Resolves with the caller, or rejects with `unauthorized`: to the caller the same for every cause;
   * the cause travels to the server's log as the refusal's `cause`.
   */
  async authenticate(credentials: Credentials): Promise<Caller> {
    const { authorization, timestamp, signature, method, target, body } = credentials;
    const apiKey = bearerToken(authorization);
    if (apiKey === null) throw unauthorized("no API key in Authorization: Bearer");
    if (timestamp === undefined || signature === undefined) {
      throw unauthorized("no X-Timestamp or no X-Signature");
    }
    const { nowMs, clockWindowSeconds } = this.#options;
    if (!isTimestampInWindow(timestamp, nowMs(), clockWindowSeconds)) {
      throw unauthorized("X-Timestamp is no number of seconds or outside the window");
    }
    const key = this.#cached(apiKey) ?? (await this.#fetch(apiKey));
    if (key.expiresAtMs <= nowMs()) throw unauthorized("the API key has expired");
    if (!key.signingKey.isValid({ timestamp, method, target, body }, signature)) {
      throw unauthorized("the signature does not match");
    }
    return key;
  }

  /** Whether a key that was accepted once still would be; for streams, which outlive their upgrade. */
  async isLive(apiKey: string): Promise<boolean> {
    try {
      const key = this.#cached(apiKey) ?? (await this.#fetch(apiKey));
      return key.expiresAtMs > this.#options.nowMs();
    } catch (error) {
      if (error instanceof Refusal && error.problem === "unauthorized") return false;
      throw error;
    }
  }

  #cached(apiKey: string): CachedKey | null {
    const key = this.#cache.get(apiKey);
    const isFresh = key !== undefined && this.#options.nowMs() - key.fetchedAtMs < keyLifetimeMs;
    return isFresh ? key : null;
  }

  /** Requests that miss at once share one query. Unknown keys are not kept: a new key works at once. */
  #fetch(apiKey: string): Promise<CachedKey> {
    const pending = this.#pending.get(apiKey);
    if (pending !== undefined) return pending;
    const fetched = this.#load(apiKey).finally(() => this.#pending.delete(apiKey));
    this.#pending.set(apiKey, fetched);
    return fetched;
  }

  async #load(apiKey: string): Promise<CachedKey> {
    // Counted from before the query: what it read may be that old.
    const fetchedAtMs = this.#options.nowMs();
    const previous = this.#cache.get(apiKey);
    this.#cache.delete(apiKey);
    const record = await this.#options.findApiKey(apiKey);
    if (record === null) throw unauthorized("the API key is unknown");
    if (record.revokedAt !== null) throw unauthorized("the API key was revoked");
    const masterKey = this.#masterKeys.get(record.masterKeyFingerprint);
    if (masterKey === undefined) {
      throw unauthorized("the API key was made with a master key that this server does not have");
    }
    const key: CachedKey = {
      apiKey,
      organizationId: record.organizationId,
      scopes: record.scopes,
      // A key's secret never changes; deriving it once is enough.
      signingKey: previous?.signingKey ?? new SigningKey(deriveApiSecret(masterKey, apiKey)),
      expiresAtMs: record.expiresAt === null ? Infinity : Date.parse(record.expiresAt),
      fetchedAtMs,
    };
    const oldest = this.#cache.keys().next();
    if (this.#cache.size >= cachedKeysMax && oldest.done !== true) this.#cache.delete(oldest.value);
    this.#cache.set(apiKey, key);
    return key;
  }
}

function bearerToken(authorization: string | undefined): string | null {
  const match = /^Bearer +(\S+)$/i.exec(authorization ?? "");
  const apiKey = match?.[1];
  return apiKey !== undefined && isApiKey(apiKey) ? apiKey : null;
}

function unauthorized(cause: string): Refusal {
  return new Refusal(
    "unauthorized",
    "the API key or the signature is missing, invalid or expired",
    {
      cause,
    },
  );
}
