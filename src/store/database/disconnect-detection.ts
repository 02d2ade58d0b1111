// PostgreSQL looks at a connection only between statements, unless it is set to look: a statement whose caller
// is gone would be worked on to its end, which for sums over years is minutes.
import type { ClientBase } from "pg";

const detectedWithinMs = 1_000;
const answerTimeoutMs = 5_000;
/** What takes no longer than this ends by itself soon enough. */
const shortMs = 10_000;

/** Options of a pool whose statements may take `statementMsMax`: long ones end soon after their connection is cut. */
export function disconnectDetection(statementMsMax: number): {
  onConnect?: (client: ClientBase) => Promise<void>;
} {
  return statementMsMax > shortMs ? { onConnect: detectDisconnects } : {};
}

async function detectDisconnects(client: ClientBase): Promise<void> {
  const text = `SET client_connection_check_interval = ${detectedWithinMs}`;
  const query = { text, query_timeout: answerTimeoutMs };
  try {
    await client.query(query);
  } catch {
    // Where the database's system can't detect it (Windows), it refuses; as a startup option it would refuse the
    // connection. After any other failure the next statement fails too.
  }
}
