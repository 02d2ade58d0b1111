// The topics of `ledgerctl help`. Tests hold exit codes and variables to those that there are.

export interface Topic {
  readonly name: string;
  readonly summary: string;
  readonly text: string;
}

const signing = `SIGNING

Every request carries three headers, and a fourth where it has a body:

  Authorization   Bearer and the API key (lk_…)
  X-Timestamp     Unix seconds, digits only
  X-Signature     64 hex digits
  Content-Type    application/json

The signature is the HMAC-SHA256, keyed with the API secret as it is (ls_… and all), of

  TIMESTAMP\\nMETHOD\\nTARGET\\nBODY

METHOD is in upper case. TARGET is path and query, byte for byte as they are on the request line. BODY is
the raw bytes, or nothing. The server takes timestamps within 5 minutes of its clock, either way.

A secret is shown once, by \`ledgerctl key create\`, and never travels. Keep it in a profile
(\`ledgerctl config set api-secret\`) or in LEDGERCTL_API_SECRET.

  $ ledgerctl sign GET /v1/ledgers                  headers, made offline
  $ ledgerctl sign GET /v1/ledgers --format curl    a curl command
  $ ledgerctl request GET /v1/ledgers               signed and sent
  $ ledgerctl doctor                                what is wrong, where it does not work`;

const periods = `PERIODS

A period is a stretch of transaction dates in UTC, its end exclusive. Its label says which:

  2026                          a year
  2026-03, Mar 2026             a month (also 2026/03, 202603, March 2026)
  2026-03-31                    a day
  2026-Q1, Q1 2026              a quarter
  2026-H1                       half a year
  2026-W09                      an ISO week

What looks like a date and is none (2026-13) is refused. ANY OTHER LABEL closes the books up to this moment,
from where closed books end. --starts-at and --ends-at stand in place of the label's own bounds: for 4-4-5
calendars and local midnights.

Closing is for good: a closed period takes no entry and no reversal any more. What wallets have pending is
posted first. The record of a close chains to the one before it, and holds the Merkle root over the
period's entries. Publish its closeHash.

  $ ledgerctl period preview 2026-03         what a close would do, and what to look at
  $ ledgerctl period close 2026-03           shows that, and asks
  $ ledgerctl trial-balance --period 2026-03
  $ ledgerctl bundle 2026-03 --out 2026-03.ndjson`;

const proofs = `PROOFS

A close's merkleRoot is an RFC 6962 tree over its entries, each as RFC 8785 canonical JSON, in the order of
the journal. Its closeHash is over the whole record: root, bounds, balances, reason and the hash of the
close before it. Who has a closeHash that was published can check, without trusting the server:

  all of a period   $ ledgerctl bundle 2026-03 --out 2026-03.ndjson
                    $ ledgerctl merkle verify --bundle 2026-03.ndjson --expect CLOSEHASH
  one entry         $ ledgerctl merkle prove ENTRY_ID --period 2026-03 --out proof.json
                    $ ledgerctl merkle check proof.json --root CLOSEHASH

Between two closes, the ledger is a transparency log: signed checkpoints, each of which begins with the one before.

  one entry         $ ledgerctl log prove ENTRY_ID --out entry.tlog-proof
                    $ ledgerctl log verify entry.tlog-proof --policy ledger.policy
  the operator      $ ledgerctl log watch --policy ledger.policy --state journal.state --once

All checks of files are offline: they open no connection and read no configuration. Without --expect (--root) the
figures only agree with each other: «consistent, NOT anchored». A merkleRoot covers the entries alone,
a closeHash all of the record. What does not match ends with exit code 3.

\`ledgerctl audit\` recomputes everything in the database itself, wallets included.`;

const exitCodes = `EXIT CODES

    0  done
    1  failed, none of the below
    2  wrong usage or invalid input
    3  verification failed: a root, a proof, a balance, an audit, a backup or a benchmark does not match
    4  not authenticated, or not permitted
    5  not found
    6  conflict: duplicate, closed period, already reversed, suspended or closed ledger, insufficient funds
    7  server or database unavailable
  130  interrupted

A failure is one message on stderr; stdout has results only. With --json it is an object:
{"error":{"code","message","exit","status","requestId"}}. What would ask a question asks on a terminal
only: elsewhere it needs --yes, and ends with 2 without it.`;

const environment = `ENVIRONMENT

What a flag says comes first, then these, then the profile. An empty variable counts as unset.

  LEDGERCTL_URL                   the service; http://127.0.0.1:8420 unless told
  LEDGERCTL_API_KEY               the API key
  LEDGERCTL_API_SECRET            its secret, which is never a flag: process lists show flags
  LEDGERCTL_LEDGER                the ledger's id
  LEDGERCTL_PROFILE               a profile of the configuration file
  LEDGERCTL_CONFIG                the configuration file; $XDG_CONFIG_HOME/ledgerctl/config.json unless told

  LEDGERCTL_DATABASE_URL          a PostgreSQL database, in place of the embedded one
  LEDGERCTL_READ_DATABASE_URL     a streaming standby of it, for long reads of a server
  LEDGERCTL_READ_LAG_MS_MAX       how long these wait for the standby
  LEDGERCTL_DATA_DIR              the folder of the embedded one; $XDG_DATA_HOME/ledgerctl unless told
  LEDGERCTL_MASTER_KEY            the master key that secrets are derived from, 32 bytes in base64
  LEDGERCTL_PREVIOUS_MASTER_KEYS  further master keys that are accepted

  LEDGERCTL_TLS_CERT              the certificate of TLS and its chain, a file of PEM
  LEDGERCTL_TLS_KEY               its private key, a file of PEM
  LEDGERCTL_RATE_LIMIT            requests a second of each API key, such as 100/s:500
  LEDGERCTL_LOG_NAME              what the origins of logs begin with, such as ledger.example.com
  LEDGERCTL_LOG_KEY               the key that the logs of ledgers are signed with, 32 bytes in base64
  LEDGERCTL_PREVIOUS_LOG_KEYS     log keys that are rotated out, and sign beside it
  LEDGERCTL_CHECKPOINT_INTERVAL_MS  how long after a journal grew there is a checkpoint of it
  LEDGERCTL_LOG_POLICY            a tlog-policy file: the witnesses that cosign checkpoints
  LEDGERCTL_LOG_LEVEL             the server's log: trace, debug, info, warn, error, fatal or silent
  LEDGERCTL_CLOCK_WINDOW_SECONDS  how far a request's timestamp may be from the server's clock
  LEDGERCTL_BODY_BYTES_MAX        the largest body of a request
  LEDGERCTL_CONNECTIONS_MAX       connections beyond which further ones are refused
  LEDGERCTL_NODE_CONNECTIONS_MAX  connections of a process to each node of a Citus cluster, 8 unless told; 0 for none
  LEDGERCTL_POST_INTERVAL_MS      how long after their acceptance wallet writes are posted
  LEDGERCTL_GRACE_MS              how long a stopping server waits for requests under way

  NO_COLOR                        no colours, with any value
  LEDGERCTL_PAGER, PAGER          what shows tables that are longer than the terminal, else less; cat for none
  TERM                            dumb: lines in place of live screens
  VISUAL, EDITOR                  the editor of entry post --edit, else vi
  HOME, XDG_CONFIG_HOME, XDG_DATA_HOME, PATH`;

export const topics: readonly Topic[] = [
  { name: "signing", summary: "how requests are signed, and where secrets are", text: signing },
  { name: "periods", summary: "labels, bounds and closing", text: periods },
  { name: "proofs", summary: "what a close proves, and how to check it", text: proofs },
  { name: "exit-codes", summary: "what each exit code means", text: exitCodes },
  { name: "environment", summary: "variables that are read", text: environment },
];
