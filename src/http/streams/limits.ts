// The limits of streams, which docs/wallets.md ("Streaming") tells callers. Each is for one stream. How many a wallet
// or an API key may have is not limited.

/** The longest message that a client may send; a longer one closes its stream with 1009. */
export const clientMessageBytesMax = 4 * 1024;

/** How often a client is pinged; one that has not answered by the next ping is cut. */
export const pingIntervalMs = 30_000;

/** How often a stream's API key is checked: keys are cached for 4 s, and a revocation has to take hold within 5. */
export const apiKeyCheckIntervalMs = 500;

/** Unsent bytes from which a plain reader gets only the latest figures. */
export const conflateFromBytes = 64 * 1024;

/** How long a plain reader may stay behind; then its stream is closed with 1013. */
export const conflateMsMax = 10_000;

/** Unsent bytes at which a stream with `since`, whose reader must not miss anything, is closed with 1013. */
export const unsentBytesMax = 1024 * 1024;

/** Live events that wait for the end of a replay; where there are more, they are replayed from the log. */
export const bufferedEventsMax = 1_000;
