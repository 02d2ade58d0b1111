// A client that floods: sends one signed request again and again, over many connections, each time when it was
// answered. Ends when its parent does, or by a signal.
//
//   node scripts/bench/flood-client.js PORT CONNECTIONS < the bytes of the request
import { connect } from "node:net";
import { setPriority } from "node:os";
import { buffer } from "node:stream/consumers";

const [port, connections] = process.argv.slice(2).map(Number);
const lowestPriority = 19;
setPriority(lowestPriority);
const request = await buffer(process.stdin);
for (let opened = 0; opened < connections; opened += 1) {
  const socket = connect(port, "127.0.0.1");
  socket.setNoDelay(true);
  // Answers are short: each comes in one piece.
  socket.on("data", () => socket.write(request));
  socket.on("error", () => undefined);
  socket.write(request);
}
