// Message and code of a thrown value of unknown type.

/** The message of an error; anything else as text. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The errno's name ("ENOENT") of the system's errors, the SQLSTATE of the database's, or null. */
export function errorCode(thrown: unknown): string | null {
  if (!(thrown instanceof Error) || !("code" in thrown)) return null;
  return typeof thrown.code === "string" ? thrown.code : null;
}
