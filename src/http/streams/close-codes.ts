// Why the server closes a stream (RFC 6455, section 7.4.1). ws itself closes with 1009 after too long a message.
export const closeCodes = {
  goingAway: 1001,
  policy: 1008,
  serviceRestart: 1012,
  tryAgainLater: 1013,
} as const;
