// What a connection that did not come about lacks in its URL, where the driver's own words do not say it.
import { certificateFault } from "../../core/certificate-fault.ts";
import { messageOf } from "../../core/thrown.ts";

/** The error, or one that says what to do about it, with it as its cause. */
export function loginFault(error: unknown, isPasswordMissing: boolean): unknown {
  if (isPasswordMissing) {
    return new Error(
      "the database asks for a password, and its URL has none (postgresql://user:password@host/name)",
      { cause: error },
    );
  }
  if (certificateFault(error) === null) return error;
  return new Error(
    `the certificate of the database's server is not accepted (${messageOf(error)}): in the URL, name the authority's ` +
      "certificate with sslrootcert=FILE, and the host as the certificate does; sslmode=no-verify checks nothing",
    { cause: error },
  );
}
