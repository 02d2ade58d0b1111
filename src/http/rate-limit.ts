// How many requests an API key may make: a bucket of tokens for each key. A request takes one, and so does each item
// of a bulk. What clients are told of it: RateLimit-Policy and RateLimit of draft-ietf-httpapi-ratelimit-headers.
import { Refusal } from "../core/errors.ts";
import { evictOldest } from "../core/evict-oldest.ts";

/** So many tokens come into a bucket in a second, and so many are in it at most. */
export interface RateLimit {
  readonly perSecond: number;
  readonly burst: number;
}

/** What is said of a limit on an answer, by the names of the headers. */
export type RateLimitHeaders = Readonly<Record<"ratelimit-policy" | "ratelimit", string>>;

/** Of keys that signed a request; a bucket that is dropped is full again. */
const bucketsMax = 10_000;

/** The limit of one of several processes that share a server's. */
export function shareOf(limit: RateLimit, processes: number): RateLimit {
  return {
    perSecond: limit.perSecond / processes,
    // Less than a token would never let a request in.
    burst: Math.max(1, limit.burst / processes),
  };
}

export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #nowMs: () => number;
  readonly #policy: string;
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(limit: RateLimit, nowMs: () => number) {
    this.#limit = limit;
    this.#nowMs = nowMs;
    this.#policy = policyOf(limit);
  }

  /** The bucket of a key whose signature was found right. */
  bucketOf(apiKey: string): TokenBucket {
    let bucket = this.#buckets.get(apiKey);
    if (bucket === undefined) {
      evictOldest(this.#buckets, bucketsMax);
      bucket = new TokenBucket(this.#limit, this.#policy, this.#nowMs);
      this.#buckets.set(apiKey, bucket);
    }
    return bucket;
  }
}

export class TokenBucket {
  readonly #limit: RateLimit;
  readonly #policy: string;
  readonly #nowMs: () => number;
  #tokens: number;
  #filledAtMs: number;

  constructor(limit: RateLimit, policy: string, nowMs: () => number) {
    this.#limit = limit;
    this.#policy = policy;
    this.#nowMs = nowMs;
    this.#tokens = limit.burst;
    this.#filledAtMs = nowMs();
  }

  /**
   * Takes the tokens of a request, of which only one need be there: a bulk of any size gets through, and the requests
   * after it wait until what it took has come. Looking and taking are one step, so that no second bulk is admitted in
   * between. Throws `rateLimited` where there is no token; `countTokens` is not called then. Returns how many it took.
   */
  take(countTokens: () => number = () => 1): number {
    this.#fill();
    if (this.#tokens < 1) {
      const seconds = this.#secondsUntil(1);
      const detail = `the API key is over its rate limit; try again in ${seconds} s`;
      throw new Refusal("rateLimited", detail, { retryAfterSeconds: seconds });
    }
    const tokens = countTokens();
    this.#tokens -= tokens;
    return tokens;
  }

  /** Puts back what was taken for something that the server could not do. */
  giveBack(tokens: number): void {
    this.#tokens = Math.min(this.#limit.burst, this.#tokens + tokens);
  }

  /** What is left now. Without a token `t` is as long as `Retry-After`, else the time until the bucket is full. */
  headers(): RateLimitHeaders {
    this.#fill();
    const left = Math.max(0, Math.floor(this.#tokens));
    const seconds = this.#secondsUntil(left === 0 ? 1 : this.#limit.burst);
    return {
      "ratelimit-policy": this.#policy,
      ratelimit: `"default";r=${left};t=${seconds}`,
    };
  }

  #fill(): void {
    const nowMs = this.#nowMs();
    const more = ((nowMs - this.#filledAtMs) / 1000) * this.#limit.perSecond;
    this.#tokens = Math.min(this.#limit.burst, this.#tokens + more);
    this.#filledAtMs = nowMs;
  }

  /** Whole seconds until there are so many tokens. */
  #secondsUntil(tokens: number): number {
    return Math.max(0, Math.ceil((tokens - this.#tokens) / this.#limit.perSecond));
  }
}

/**
 * The policy in the words of the headers: a quota for a window of seconds. It is the burst, for the time in which it
 * comes again, or what comes in a second, if that is more.
 */
function policyOf({ perSecond, burst }: RateLimit): string {
  const quota = Math.max(1, Math.floor(Math.max(burst, perSecond)));
  return `"default";q=${quota};w=${Math.max(1, Math.ceil(quota / perSecond))}`;
}
