// The one error for "there is no database to work with". The command line maps it to its own exit code.

/** Message for a person: what happened, why, and what to do about it. */
export class DatabaseUnavailable extends Error {
  override readonly name = "DatabaseUnavailable";
}
