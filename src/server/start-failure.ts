// Why a server does not start, for whoever started it: what is wrong, and what to do.

export class StartFailure extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "StartFailure";
  }
}
