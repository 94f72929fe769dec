/** Examples for the landing page. Each works as it is, except for the token. */

const initialize = '{"id":1,"method":"initialize","params":{"clientInfo":{"name":"me","version":"1"}}}';

export function shell(url: string, needsToken: boolean): string {
  const header = needsToken ? ' -H "Authorization: Bearer TOKEN"' : "";
  const target = url.startsWith("unix://") ? `ws+unix://${url.slice("unix://".length)}:/` : url;
  // Node has `npx`, so that nothing has to be installed first.
  return `npx wscat${header} -c ${target}`;
}

export const nextLines = `${initialize}
{"id":2,"method":"thread/start","params":{}}
{"id":3,"method":"turn/start","params":{"threadId":"THREAD","input":[{"type":"text","text":"Hi"}]}}`;

export function javascript(url: string, needsToken: boolean): string {
  // Node's WebSocket does not support Unix sockets. The `ws` package does, with URLs of another form.
  const isUnix = url.startsWith("unix://");
  const head = isUnix ? 'import WebSocket from "ws"; // npm install ws\n' : "";
  const address = isUnix ? `ws+unix://${url.slice("unix://".length)}:/` : url;
  const auth = needsToken ? ', { headers: { authorization: "Bearer TOKEN" } }' : "";
  return `${head}const socket = new WebSocket(${JSON.stringify(address)}${auth});
const send = (message) => socket.send(JSON.stringify(message));

socket.onopen = () =>
  send({ id: 1, method: "initialize", params: { clientInfo: { name: "me", version: "1" } } });
socket.onmessage = ({ data }) => {
  const { id, method, params, result } = JSON.parse(data);
  if (id === 1) send({ id: 2, method: "thread/start", params: {} });
  if (id === 2) {
    const input = [{ type: "text", text: "Hello, who are you?" }];
    send({ id: 3, method: "turn/start", params: { threadId: result.thread.id, input } });
  }
  if (method === "item/agentMessage/delta") process.stdout.write(params.delta);
  if (method === "turn/completed") socket.close();
};`;
}
