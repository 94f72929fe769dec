// packages/host/src/server/listen/door.ts
var ListenError = class extends Error {
  code;
  constructor(code, message, options) {
    super(message, options);
    this.name = "ListenError";
    this.code = code;
  }
};

// packages/host/src/server/listen/loopback.ts
import { BlockList, isIP } from "node:net";
var loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");
function isLoopbackAddress(address) {
  const family = isIP(address);
  if (family === 0) return false;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== void 0) return loopback.check(mapped, "ipv4");
  return loopback.check(address, family === 6 ? "ipv6" : "ipv4");
}
function isLoopbackHost(hostname) {
  const name = hostname.toLowerCase();
  if (name === "localhost" || name.endsWith(".localhost")) return true;
  return isLoopbackAddress(name.startsWith("[") && name.endsWith("]") ? name.slice(1, -1) : name);
}

// packages/host/src/server/listen/guard.ts
var Guard = class {
  #loopback;
  #allowed;
  constructor(options) {
    this.#loopback = options.loopback;
    this.#allowed = new Set((options.allowedOrigins ?? []).map(normalizeOrigin));
  }
  checkOrigin(request) {
    const origin = request.headers.origin;
    if (origin === void 0 || this.#allowed.has(normalizeOrigin(origin)) || isOwn(origin, request)) return;
    return {
      status: 403,
      code: "originRefused",
      message: `web pages of ${origin} may not connect; add the origin to the allowed ones if they should`
    };
  }
  checkHost(request) {
    if (!this.#loopback) return;
    const host = request.headers.host;
    if (host !== void 0 && isLoopbackHost(splitHost(host).name)) return;
    return {
      status: 403,
      code: "hostRefused",
      message: "this listener serves this machine only; address it as localhost or by its loopback address"
    };
  }
};
function isOwn(origin, request) {
  const url = URL.canParse(origin) ? new URL(origin) : void 0;
  const { localAddress, localPort } = request.socket;
  if (url?.protocol !== "http:" || url.origin !== origin.toLowerCase() || localAddress === void 0)
    return false;
  const forwarded = request.headers.host?.toLowerCase() === url.host;
  if (!forwarded && Number(url.port || 80) !== localPort) return false;
  if (isLoopbackAddress(localAddress)) return isLoopbackHost(url.hostname);
  return url.hostname === bracket(localAddress);
}
function bracket(address) {
  return address.includes(":") ? `[${address}]` : address;
}
function splitHost(host) {
  return { name: /^(\[[^\]]*\]|[^:]*)(:\d*)?$/.exec(host)?.[1] ?? "" };
}
function normalizeOrigin(origin) {
  return origin.trim().toLowerCase().replace(/\/$/, "");
}

// packages/host/src/server/listen/socket-door.ts
import { createServer } from "node:http";

// packages/rpc/src/link.ts
var MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

// packages/rpc/src/lines.ts
var BOM = [239, 187, 191];
var SLACK = BOM.length + 1;
var KEEP_BYTES = 64 * 1024;

// packages/host/src/server/listen/socket-door.ts
import { WebSocketServer } from "ws";

// packages/host/src/server/listen/refusal.ts
import { STATUS_CODES } from "node:http";
var CLOSING = { status: 503, code: "closing", message: "the host is shutting down" };
function refuse(response, refusal) {
  const { body, headers } = render(refusal);
  response.writeHead(refusal.status, headers);
  response.end(body);
}
function refuseUpgrade(socket, refusal) {
  const { body, headers } = render(refusal);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r
`);
  const head = `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r
${lines.join("")}\r
`;
  socket.on("error", () => {
  });
  socket.once("finish", () => socket.destroy());
  socket.end(head + body);
}
function render(refusal) {
  const body = `${JSON.stringify({ error: { code: refusal.code, message: refusal.message } })}
`;
  return {
    body,
    headers: {
      ...refusal.headers,
      "Content-Type": "application/json",
      "Content-Length": String(Buffer.byteLength(body)),
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      Connection: "close"
    }
  };
}

// packages/host/src/server/page.ts
import { createHash } from "node:crypto";

// packages/host/src/server/page-snippets.ts
var initialize = '{"id":1,"method":"initialize","params":{"clientInfo":{"name":"me","version":"1"}}}';
function shell(url, needsToken) {
  const header = needsToken ? " -H='Authorization: Bearer TOKEN'" : "";
  const target = url.startsWith("unix://") ? `--ws-c-uri=ws://localhost/ - ws-c:unix:${url.slice("unix://".length)}` : url;
  return `websocat${header} ${target}`;
}
var nextLines = `${initialize}
{"id":2,"method":"thread/start","params":{}}
{"id":3,"method":"turn/start","params":{"threadId":"THREAD","input":[{"type":"text","text":"Hello"}]}}`;
function javascript(url, needsToken) {
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

// packages/host/src/server/page.ts
function renderPage({ url, needsToken, statusRows, version }) {
  const token = needsToken ? "<p class=note>This listener wants a bearer token. Put yours where the examples say <code>TOKEN</code>.</p>" : "";
  const status = statusRows > 0 ? `<section><h2>Right now</h2><iframe src="/status" title="Status" height="${statusRows * ROW_PX}"></iframe></section>` : "";
  return page(
    "Bobbin",
    `<header>${LOGO}<div><h1>Bobbin${version ? ` <small>${escapeHtml(version)}</small>` : ""}</h1>
<p>A host for agent threads. It is running, and this is its door for programs: an IDE, a bot or a script connects
with a WebSocket and speaks the app-server protocol, one JSON message a text frame.</p></div></header>
<section><h2>Address</h2><pre class=address>${escapeHtml(url)}</pre>${token}</section>
${status}
<section><h2>From a terminal</h2><pre>${escapeHtml(shell(url, needsToken))}</pre>
<p>Then type, a line at a time (the thread id is in the second reply):</p><pre>${escapeHtml(nextLines)}</pre></section>
<section><h2>From JavaScript</h2><p>Node 22 or newer, as a <code>.mjs</code> file; a click selects all of it.</p>
<pre>${escapeHtml(javascript(url, needsToken))}</pre></section>
<footer><a href="/readyz">readyz</a> <a href="/healthz">healthz</a> <a href="/metrics">metrics</a></footer>`
  );
}
function renderStatus(rows) {
  const cells = rows.map(
    ([label, value]) => `<tr><th>${escapeHtml(label)}</th><td>${escapeHtml(value)}</td></tr>`
  );
  return page(
    "Status",
    `<table>${cells.join("\n")}</table>`,
    `<meta http-equiv=refresh content=${REFRESH_SECONDS}>`
  );
}
function pageHeaders(framedBy) {
  return {
    "Content-Security-Policy": `default-src 'none'; style-src '${styleHash()}'; frame-src 'self'; frame-ancestors '${framedBy}'; base-uri 'none'; form-action 'none'`,
    "Referrer-Policy": "no-referrer"
  };
}
var ROW_PX = 34;
var REFRESH_SECONDS = 3;
function page(title, body, head = "") {
  return `<!doctype html>
<html lang=en><head><meta charset=utf-8><title>${title}</title>
<meta name=viewport content="width=device-width, initial-scale=1"><meta name=color-scheme content="light dark">${head}
<style>${STYLE}</style></head><body class=${title.toLowerCase()}><main>
${body}
</main></body></html>
`;
}
function escapeHtml(text2) {
  return text2.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
var hash;
function styleHash() {
  hash ??= `sha256-${createHash("sha256").update(STYLE).digest("base64")}`;
  return hash;
}
var LOGO = `<svg viewBox="0 0 48 48" width="56" height="56" role="img" aria-label="a bobbin">
<g fill="none" stroke-linecap="round" stroke-width="3"><path class=wood d="M10 6h28M10 42h28M24 2v4M24 42v4"/>
<path class=thread d="M14 12h20M14 18h20M14 24h20M14 30h20M14 36h20c6 0 8-3 8-6"/></g></svg>`;
var STYLE = `
:root { color-scheme: light dark; --ink: #22252b; --dim: #666c78; --paper: #fbfaf7; --card: #f1eee7;
  --line: #e0dbd0; --thread: #c2542d; --wood: #8a6d4b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e6e1; --dim: #9a9fab; --paper: #17181c; --card: #202228;
  --line: #31343c; --thread: #f08a5d; --wood: #c9a77c; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
.bobbin main { max-width: 46rem; margin: 0 auto; padding: 3.5rem 1.25rem 3rem; }
header { display: flex; gap: 1.25rem; align-items: flex-start; }
svg { flex: none; margin-top: .35rem; }
.wood { stroke: var(--wood); } .thread { stroke: var(--thread); }
h1 { margin: 0; font-size: 2rem; line-height: 1.2; letter-spacing: -.02em; }
h1 small { font-size: .9rem; font-weight: 400; color: var(--dim); letter-spacing: 0; }
header p { margin: .4rem 0 0; color: var(--dim); }
section { margin-top: 2.25rem; }
h2 { margin: 0 0 .6rem; font-size: .8rem; text-transform: uppercase; letter-spacing: .08em; color: var(--dim); }
p { margin: .6rem 0; }
code, pre { font: .875rem/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: 0; padding: .9rem 1rem; overflow-x: auto; background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; user-select: all; -webkit-user-select: all; cursor: copy; }
pre.address { font-size: 1.15rem; color: var(--thread); font-weight: 600; }
.note { padding-left: .8rem; border-left: 3px solid var(--thread); color: var(--dim); }
iframe { display: block; width: 100%; border: 1px solid var(--line); border-radius: 8px; }
.status { background: var(--card); }
table { width: 100%; border-collapse: collapse; font-size: .9375rem; }
tr { height: 34px; } tr + tr { border-top: 1px solid var(--line); }
th { padding: 0 1rem; text-align: left; font-weight: 400; color: var(--dim); }
td { padding: 0 1rem; text-align: right; font-variant-numeric: tabular-nums; }
footer { margin-top: 2.5rem; padding-top: 1rem; border-top: 1px solid var(--line); font-size: .875rem; }
a { color: var(--dim); margin-right: 1rem; } a:hover { color: var(--thread); }
`;

// packages/host/src/server/http.ts
function httpHandler(options) {
  return (request, response) => {
    answer(options, request).then(
      (reply) => "status" in reply ? refuse(response, reply) : send(response, reply),
      (error) => {
        const message = error instanceof Error ? error.message : String(error);
        refuse(response, { status: 500, code: "internal", message });
      }
    );
  };
}
async function answer(options, request) {
  const { guard, site: site2, authenticate } = options;
  const path = (request.url ?? "/").split("?", 1)[0];
  const foreign = guard.checkOrigin(request);
  if (foreign) return foreign;
  const isProbe = path === "/readyz" || path === "/healthz";
  const rebound = isProbe ? void 0 : guard.checkHost(request);
  if (rebound) return rebound;
  if (request.method !== "GET" && request.method !== "HEAD") return methodNotAllowed(request.method);
  const denied = () => {
    const outcome = authenticate?.(request.headers.authorization);
    return outcome && "status" in outcome ? outcome : void 0;
  };
  switch (path) {
    case "/healthz":
      return text("ok\n");
    case "/readyz":
      return options.ready() ? text("ok\n") : CLOSING;
    case "/metrics":
      return denied() ?? (site2.metrics ? metrics(await site2.metrics()) : notFound(path));
    case "/":
      return html(
        renderPage({
          url: addressed(request, options.url()),
          needsToken: authenticate !== void 0,
          // Behind a token the frame would only show that one is missing.
          statusRows: authenticate ? 0 : site2.status?.().length ?? 0,
          ...site2.version !== void 0 && { version: site2.version }
        }),
        pageHeaders("none")
      );
    case "/status":
      return denied() ?? (site2.status ? html(renderStatus(site2.status()), pageHeaders("self")) : notFound(path));
    default:
      return notFound(path ?? "/");
  }
}
function addressed(request, url) {
  const host = request.headers.host;
  return url.startsWith("ws:") && host && /^[\w.:[\]-]+$/.test(host) ? `ws://${host}` : url;
}
function send(response, reply) {
  response.writeHead(200, {
    ...reply.headers,
    "Content-Type": reply.type,
    "Content-Length": Buffer.byteLength(reply.body),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff"
  });
  response.end(reply.body);
}
var text = (body) => ({ type: "text/plain; charset=utf-8", body });
var html = (body, headers) => ({
  type: "text/html; charset=utf-8",
  body,
  headers
});
var metrics = (body) => ({ type: "text/plain; version=0.0.4; charset=utf-8", body });
function notFound(path) {
  return {
    status: 404,
    code: "notFound",
    message: `nothing is served at ${path}; try /, /readyz, /healthz or /metrics, or connect with a WebSocket`
  };
}
function methodNotAllowed(method) {
  return {
    status: 405,
    code: "methodNotAllowed",
    message: `${method} is not served here, only GET; the protocol itself is spoken over a WebSocket`,
    headers: { Allow: "GET, HEAD" }
  };
}

// packages/host/src/server/listen/wire.ts
import { isUtf8 } from "node:buffer";
import { WebSocket } from "ws";
var DEFAULT_GRACE_MS = 5e3;
var MAX_MISSED_PINGS = 2;
var CLOSE_CODES = { normal: 1e3, shutdown: 1001, protocol: 1002, slow: 1013 };
var WebSocketLink = class {
  #ws;
  #socket;
  #events;
  #state = "open";
  #corked = false;
  #backlogged = false;
  #missedPings = 0;
  #signsOfLife = -1;
  #gone;
  gone = new Promise((resolve) => {
    this.#gone = resolve;
  });
  constructor(ws, socket) {
    this.#ws = ws;
    this.#socket = socket;
  }
  get backlog() {
    return this.#state === "closed" ? 0 : this.#socket.writableLength;
  }
  begin(events) {
    this.#events = events;
    this.#ws.on("message", (data, binary) => {
      if (this.#state !== "open") return;
      if (binary || !isUtf8(data)) this.#events?.undecodable();
      else this.#events?.message(data.toString());
    });
    this.#ws.on("error", (error) => {
      const tooLong = error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH" || error.code === "WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH";
      if (tooLong && this.#state === "open") this.#events?.oversized(MAX_MESSAGE_BYTES + 1);
    });
    this.#ws.once("close", () => {
      this.#state = "closed";
      const events2 = this.#events;
      this.#events = void 0;
      events2?.closed();
      this.#gone();
    });
  }
  send(frame) {
    if (this.#ws.readyState !== WebSocket.OPEN) return;
    if (!this.#corked) {
      this.#corked = true;
      this.#socket.cork();
      process.nextTick(this.#uncork);
    }
    this.#backlogged = true;
    this.#socket.write(frame.websocket, this.#written);
  }
  pause() {
    if (this.#state === "open") this.#ws.pause();
  }
  resume() {
    if (this.#state === "open") this.#ws.resume();
  }
  close(reason, graceMs = DEFAULT_GRACE_MS) {
    if (this.#state === "open") {
      this.#state = "closing";
      this.#ws.resume();
      this.#ws.close(CLOSE_CODES[reason], reason);
    }
    if (this.#state === "closing") this.cutAfter(graceMs);
    return this.gone;
  }
  /** Ends the wire without ceremony if it is still there by then. */
  cutAfter(graceMs) {
    if (graceMs <= 0) this.#ws.terminate();
    else setTimeout(() => this.#ws.terminate(), graceMs).unref();
  }
  /**
   * Called at intervals. Pings keep proxies from dropping an idle wire; `reap` also cuts one whose far end
   * moved no byte either way for several intervals, which TCP alone would notice only much later.
   */
  ping(reap) {
    if (this.#ws.readyState !== WebSocket.OPEN || this.#ws.isPaused) return;
    const { bytesRead, bytesWritten, writableLength } = this.#socket;
    const signs = writableLength === 0 ? bytesRead : bytesRead + bytesWritten - writableLength;
    if (signs !== this.#signsOfLife) this.#missedPings = 0;
    else if (++this.#missedPings >= MAX_MISSED_PINGS && reap) {
      this.#ws.terminate();
      return;
    }
    this.#signsOfLife = signs;
    if (writableLength === 0) this.#ws.ping();
  }
  #uncork = () => {
    this.#corked = false;
    this.#socket.uncork();
  };
  #written = () => {
    if (!this.#backlogged || this.#socket.writableLength > 0) return;
    this.#backlogged = false;
    this.#events?.drained();
  };
};

// packages/host/src/server/listen/socket-door.ts
var PING_EVERY_MS = 3e4;
var SocketDoor = class {
  server;
  url = "";
  #options;
  #links = /* @__PURE__ */ new Set();
  #upgrader = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    // A text frame that is no UTF-8 is the connection's to answer; `ws` would end the wire.
    skipUTF8Validation: true
  });
  #pings;
  #closing;
  constructor(options) {
    this.#options = options;
    this.server = createServer({
      headersTimeout: 1e4,
      requestTimeout: 15e3,
      keepAliveTimeout: 5e3,
      connectionsCheckingInterval: 5e3
    });
    this.server.on(
      "request",
      httpHandler({
        site: options.site ?? {},
        guard: options.guard,
        ...options.authenticate && { authenticate: options.authenticate },
        ready: () => this.#closing === void 0,
        url: () => this.url
      })
    );
    this.server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
  }
  /** Called when the server is bound. */
  opened(url) {
    this.url = url;
    const { pingEveryMs = PING_EVERY_MS, reap } = this.#options;
    this.#pings = setInterval(() => {
      for (const link of this.#links) link.ping(reap);
    }, pingEveryMs).unref();
    return this;
  }
  close(graceMs) {
    this.#closing ??= new Promise((resolve) => {
      clearInterval(this.#pings);
      this.server.close(() => resolve());
      this.server.closeIdleConnections();
    });
    for (const link of this.#links) link.cutAfter(graceMs);
    if (graceMs <= 0) this.server.closeAllConnections();
    else setTimeout(() => this.server.closeAllConnections(), graceMs).unref();
    return this.#closing;
  }
  #upgrade(request, socket, head) {
    const verdict = this.#judge(request);
    if ("status" in verdict) refuseUpgrade(socket, verdict);
    else {
      this.#upgrader.handleUpgrade(
        request,
        socket,
        head,
        (ws) => this.#enter(ws, socket, verdict.principal)
      );
    }
  }
  #judge(request) {
    const { guard, authenticate } = this.#options;
    const refusal = guard.checkHost(request) ?? guard.checkOrigin(request);
    if (refusal) return refusal;
    if (this.#closing) return CLOSING;
    if (request.headers.upgrade?.toLowerCase() !== "websocket") {
      return {
        status: 426,
        code: "upgradeRequired",
        message: `the only protocol to upgrade to is websocket, not ${request.headers.upgrade}`,
        headers: { Upgrade: "websocket" }
      };
    }
    return authenticate ? authenticate(request.headers.authorization) : { principal: { kind: "local" } };
  }
  #enter(ws, socket, principal) {
    const link = new WebSocketLink(ws, socket);
    const meta = {
      transport: this.#options.transport,
      principal,
      ...socket.remoteAddress !== void 0 && { peer: `${socket.remoteAddress}:${socket.remotePort}` }
    };
    this.#links.add(link);
    ws.once("close", () => this.#links.delete(link));
    link.begin(this.#options.accept(link, meta));
  }
};

// packages/host/src/server/listen/websocket.ts
var BACKLOG = 4096;
async function listenWebSocket(options) {
  const { host, port, authenticate, allowedOrigins } = options;
  const asked = wsUrl(host, port);
  const loopback2 = isLoopbackAddress(host);
  if (!loopback2 && !authenticate) {
    throw new ListenError(
      "authRequired",
      `refusing to listen on ${asked} without authentication: other machines could run commands here. Add --ws-auth capability-token or --ws-auth signed-bearer-token, or listen on ws://127.0.0.1:${port} and reach it through an SSH tunnel.`
    );
  }
  const door = new SocketDoor({
    accept: options.accept,
    transport: "websocket",
    guard: new Guard({ loopback: loopback2, ...allowedOrigins && { allowedOrigins } }),
    ...authenticate && { authenticate },
    ...options.site && { site: options.site },
    ...options.pingEveryMs !== void 0 && { pingEveryMs: options.pingEveryMs },
    // On loopback the kernel tells when the other process is gone, and one that a debugger holds is not.
    reap: !loopback2
  });
  await new Promise((resolve, reject) => {
    door.server.once("error", (error) => reject(bindError(asked, error)));
    door.server.listen({ host, port, backlog: BACKLOG }, resolve);
  });
  const bound = door.server.address();
  return door.opened(wsUrl(bound.address, bound.port));
}
function wsUrl(host, port) {
  return `ws://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
function bindError(url, error) {
  const cause = { cause: error };
  switch (error.code) {
    case "EADDRINUSE":
      return new ListenError(
        "addressInUse",
        `${url} is taken by another program; choose another port, or port 0 for any that is free`,
        cause
      );
    case "EADDRNOTAVAIL":
      return new ListenError("addressUnavailable", `${url}: this machine has no such address`, cause);
    case "EACCES":
      return new ListenError(
        "addressUnavailable",
        `${url}: not allowed; ports below 1024 need privileges, choose a higher one`,
        cause
      );
    default:
      return new ListenError("listenFailed", `cannot listen on ${url}: ${error.message}`, cause);
  }
}

// packages/host/src/server/listen/zz.ts
var accept = () => ({ message() {
}, oversized() {
}, undecodable() {
}, drained() {
}, closed() {
} });
var site = { version: "0.1.0", metrics: async () => "", status: () => [["Up since", "12 min"], ["Connections", "3"], ["Threads loaded", "7"], ["Model", "offline"]] };
await listenWebSocket({ accept, host: "127.0.0.1", port: 45991, site });
await listenWebSocket({ accept, host: "127.0.0.1", port: 45992, site, authenticate: () => ({ principal: { kind: "token" } }) });
