// How the ends of a TLS connection agree on keys, whichever of them opens it.

/**
 * Elliptic curves. OpenSSL by itself also takes finite fields (DHE), and one of 8,192 bits keeps this end busy for 0.15 s a
 * handshake. Whoever asks for it needs neither an API key nor, on the other side, much work.
 */
export const keyExchangeGroups = "X25519:P-256:P-384";
