// Whether an error tells of a certificate of the other side that is not accepted.
import { errorCode } from "./thrown.ts";

/** What OpenSSL and Node call a certificate that is not accepted. */
const certificateFaults = new Set([
  "CERT_CHAIN_TOO_LONG",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_REJECTED",
  "CERT_REVOKED",
  "CERT_SIGNATURE_FAILURE",
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "HOSTNAME_MISMATCH",
  "INVALID_CA",
  "INVALID_PURPOSE",
  "PATH_LENGTH_EXCEEDED",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** The code of an error that tells of a certificate which is not accepted; null of any other. */
export function certificateFault(error: unknown): string | null {
  const code = errorCode(error);
  return code !== null && certificateFaults.has(code) ? code : null;
}
