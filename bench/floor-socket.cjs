// The baseline ("floor") for a start on a WebSocket: a minimal Node program that listens with `ws` and answers every
// message with an empty result. The time that a host takes beyond this is its own.
"use strict";
const { WebSocketServer } = require("ws");

const { hostname, port } = new URL(process.argv.at(-1) ?? "");
const server = new WebSocketServer({ host: hostname, port: Number(port), perMessageDeflate: false });
server.on("connection", (socket) => {
  socket.on("message", (data) => {
    const { id } = JSON.parse(data.toString());
    if (id !== undefined) socket.send(`{"id":${JSON.stringify(id)},"result":{}}`);
  });
});
process.once("SIGTERM", () => process.exit(0));
