// Who is calling: API key, timestamp and signature of a request.
import { Refusal } from "../core/errors.ts";
import { evictOldest } from "../core/evict-oldest.ts";
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
  readonly signingKeys: readonly MasterSigningKey[];
  readonly masterKeyFingerprint: string;
  readonly expiresAtMs: number;
  readonly fetchedAtMs: number;
}

/** The signing key that an API key has under one of the server's master keys, were it made with that one. */
interface MasterSigningKey {
  readonly masterKeyFingerprint: string;
  readonly signingKey: SigningKey;
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
  readonly #masterKeys: readonly { masterKey: Buffer; masterKeyFingerprint: string }[];
  #cache = new Map<string, CachedKey>();
  #pending = new Map<string, Promise<CachedKey>>();

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.#masterKeys = options.masterKeys.map((masterKey) => ({
      masterKey,
      masterKeyFingerprint: masterKeyFingerprint(masterKey),
    }));
  }

  /**
   * Resolves with the caller, or rejects with `unauthorized`: to the caller the same for every cause;
   * the cause travels to the server's log as the refusal's `cause`.
   *
   * The signature comes first: secrets are derived and not stored, so that it needs no database. Whoever can't
   * sign costs no query and learns nothing, not even by time, about which keys exist.
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
    const cached = this.#cache.get(apiKey);
    const signingKeys = cached?.signingKeys ?? this.#deriveSigningKeys(apiKey);
    const request = { timestamp, method, target, body };
    const signer = signingKeys.find(({ signingKey }) => signingKey.isValid(request, signature));
    if (signer === undefined) {
      // A key that is cached has to take as long as one that nobody has.
      if (cached !== undefined) this.#deriveSigningKeys(apiKey);
      throw unauthorized("the signature does not match");
    }
    const key = this.#fresh(apiKey) ?? (await this.#fetch(apiKey));
    if (key.masterKeyFingerprint !== signer.masterKeyFingerprint) {
      throw unauthorized("the API key was made with another master key than its signature");
    }
    if (key.expiresAtMs <= nowMs()) throw unauthorized("the API key has expired");
    return key;
  }

  /** Whether a key that was accepted once still would be; for streams, which outlive their upgrade. */
  async isLive(apiKey: string): Promise<boolean> {
    try {
      const key = this.#fresh(apiKey) ?? (await this.#fetch(apiKey));
      return key.expiresAtMs > this.#options.nowMs();
    } catch (error) {
      if (error instanceof Refusal && error.problem === "unauthorized") return false;
      throw error;
    }
  }

  /** To be called when another database host serves: it may have keys and revocations in another state. */
  forget(): void {
    this.#cache = new Map();
    this.#pending = new Map();
  }

  /** What a key's secret would be under each master key; neither the key nor its row is asked for. */
  #deriveSigningKeys(apiKey: string): readonly MasterSigningKey[] {
    return this.#masterKeys.map(({ masterKey, masterKeyFingerprint }) => ({
      masterKeyFingerprint,
      signingKey: new SigningKey(deriveApiSecret(masterKey, apiKey)),
    }));
  }

  #fresh(apiKey: string): CachedKey | null {
    const key = this.#cache.get(apiKey);
    const isFresh = key !== undefined && this.#options.nowMs() - key.fetchedAtMs < keyLifetimeMs;
    return isFresh ? key : null;
  }

  /** Requests that miss at once share one query. Unknown keys are not kept: a new key works at once. */
  #fetch(apiKey: string): Promise<CachedKey> {
    const pending = this.#pending;
    const underWay = pending.get(apiKey);
    if (underWay !== undefined) return underWay;
    const fetched = this.#load(apiKey).finally(() => pending.delete(apiKey));
    pending.set(apiKey, fetched);
    return fetched;
  }

  async #load(apiKey: string): Promise<CachedKey> {
    // Counted from before the query: what it read may be that old.
    const fetchedAtMs = this.#options.nowMs();
    // What is read while everything is forgotten goes with the rest.
    const cache = this.#cache;
    const record = await this.#options.findApiKey(apiKey);
    // A secret never changes; deriving it once is enough.
    const signingKeys = cache.get(apiKey)?.signingKeys ?? this.#deriveSigningKeys(apiKey);
    cache.delete(apiKey);
    if (record === null) throw unauthorized("the API key is unknown");
    if (record.revokedAt !== null) throw unauthorized("the API key was revoked");
    const { organizationId, scopes, masterKeyFingerprint, expiresAt } = record;
    const key: CachedKey = {
      apiKey,
      organizationId,
      scopes,
      signingKeys,
      masterKeyFingerprint,
      expiresAtMs: expiresAt === null ? Infinity : Date.parse(expiresAt),
      fetchedAtMs,
    };
    evictOldest(cache, cachedKeysMax);
    cache.set(apiKey, key);
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
