import { isIP } from "node:net";
import { ListenError } from "./listener.ts";

export type Listen =
  | { readonly kind: "stdio" }
  | { readonly kind: "websocket"; readonly host: string; readonly port: number }
  /** Without a path: the control socket in the home. */
  | { readonly kind: "unix"; readonly path?: string }
  | { readonly kind: "off" };

const FORMS = "stdio://, unix://, unix://PATH, ws://IP:PORT or off";

/** Parses a `--listen` value. */
export function parseListen(value: string): Listen {
  const url = value.trim();
  if (url === "stdio://") return { kind: "stdio" };
  if (url === "off") return { kind: "off" };
  if (url.startsWith("unix://")) {
    const path = url.slice("unix://".length);
    return path === "" ? { kind: "unix" } : { kind: "unix", path };
  }
  if (url.startsWith("ws://")) return parseWebSocket(value, url.slice("ws://".length).replace(/\/$/, ""));
  throw bad(value, guess(url));
}

function parseWebSocket(value: string, authority: string): Listen {
  const split = /^(\[[^\]]*\]|[^:[\]]*)(?::(\d+))?$/.exec(authority);
  if (!split) {
    if (isIP(authority) === 6) throw bad(value, `an IPv6 address needs brackets: ws://[${authority}]:4545`);
    throw bad(value, "a WebSocket listener is ws://IP:PORT, for example ws://127.0.0.1:4545");
  }
  const [, name = "", digits] = split;
  if (name === "") throw bad(value, "the address is missing, for example ws://127.0.0.1:4545");
  if (digits === undefined) throw bad(value, `the port is missing, for example ws://${name}:4545`);
  const port = Number(digits);
  if (port > 65_535) throw bad(value, "a port is at most 65535; 0 lets the system choose one");
  // Resolved here, because the system may resolve `localhost` to another address, or to several.
  const host = name.toLowerCase() === "localhost" ? "127.0.0.1" : name.replace(/^\[|\]$/g, "");
  const family = isIP(host);
  if (family === 0 || (family === 6) !== name.startsWith("[")) {
    throw bad(value, `"${name}" is not an IP address; use one of this machine's, for example 127.0.0.1`);
  }
  return { kind: "websocket", host, port };
}

/** Suggests a correction for an invalid URL. */
function guess(url: string): string {
  if (url === "") return `it is empty; use ${FORMS}`;
  if (/^(stdio|unix):?\/?$/.test(url)) return `did you mean ${url.replace(/:?\/?$/, "")}://?`;
  if (url.startsWith("wss://")) return "TLS belongs into a proxy in front; listen on ws://127.0.0.1:PORT";
  if (/^https?:\/\//.test(url)) return `did you mean ${url.replace(/^https?/, "ws")}?`;
  if (/^\d+$/.test(url)) return `did you mean ws://127.0.0.1:${url}?`;
  if (/^(\d+\.\d+\.\d+\.\d+|localhost|\[[^\]]*\]):\d+$/.test(url)) return `did you mean ws://${url}?`;
  if (url.startsWith("unix:")) return `did you mean unix://${url.slice("unix:".length)}?`;
  if (/^[./~]/.test(url)) return `did you mean unix://${url}?`;
  return `use ${FORMS}`;
}

function bad(value: string, advice: string): ListenError {
  return new ListenError("badListenUrl", `cannot listen on "${value}": ${advice}`);
}
