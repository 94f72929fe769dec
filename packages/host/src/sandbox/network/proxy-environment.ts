import { type HostRules, isListed } from "./host-rules.ts";

/** Hosts that mean the command's own listeners, on the loopback of its own network namespace. */
const OWN_HOSTS = ["localhost", "127.0.0.1", "::1"];

/** Environment variables that point programs to the bridge, a proxy on the loopback of their own network namespace. */
export function proxyEnvironment(
  port: number,
  node: string,
  hosts: HostRules,
): Readonly<Record<string, string>> {
  const proxy = `http://127.0.0.1:${port}`;
  const both = (name: string, value: string): Record<string, string> => ({
    [name]: value,
    [name.toUpperCase()]: value,
  });
  // If the rules list one of these hosts, they mean the machine's own loopback, which is reached through the proxy.
  const direct = OWN_HOSTS.filter((host) => !isListed(hosts, host)).join(",");
  return {
    ...both("http_proxy", proxy),
    ...both("https_proxy", proxy),
    ...both("all_proxy", proxy),
    ...both("ftp_proxy", proxy),
    ...both("ws_proxy", proxy),
    ...both("wss_proxy", proxy),
    ...both("no_proxy", direct),
    npm_config_proxy: proxy,
    npm_config_https_proxy: proxy,
    npm_config_noproxy: direct,
    NODE_USE_ENV_PROXY: "1",
    GIT_SSH_COMMAND: `ssh -o ProxyCommand='"${node}" --no-warnings -e "${evaluated(tunnel, port)}" %h %p'`,
  };
}

/**
 * Encodes a function as JavaScript without quotes, because the text is already quoted twice: for git's shell and for
 * the shell of ssh.
 */
function evaluated(run: (...given: never[]) => void, port: number): string {
  const source = `(${run.toString()})(require("net"),process,${port})`;
  return `eval(Buffer.from(/${Buffer.from(source).toString("base64url")}/.source,/base64url/.source).toString())`;
}

interface TunnelSocket {
  write(text: string): void;
  on(event: "data", listener: (bytes: Buffer) => void): void;
  on(event: "close", listener: () => void): void;
  on(event: "error", listener: () => void): void;
  off(event: "data", listener: (bytes: Buffer) => void): void;
  pipe(to: unknown): unknown;
}

/**
 * Connects stdin and stdout to a network host through the proxy. The source text of this function runs in another
 * process, so the function may use only its arguments.
 */
function tunnel(
  net: { connect(port: number, host: string): TunnelSocket },
  process: {
    readonly argv: readonly string[];
    readonly stdin: { pipe(to: unknown): unknown };
    readonly stdout: { write(bytes: Uint8Array): void };
    readonly stderr: { write(text: string): void };
    exit(code: number): void;
  },
  port: number,
): void {
  const socket = net.connect(port, "127.0.0.1");
  let head: Buffer = Buffer.alloc(0);
  const read = (bytes: Buffer): void => {
    head = Buffer.concat([head, bytes]);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) return;
    socket.off("data", read);
    if (!head.toString().startsWith("HTTP/1.1 200")) {
      process.stderr.write(head.subarray(end + 4).toString());
      return process.exit(1);
    }
    process.stdout.write(head.subarray(end + 4));
    socket.pipe(process.stdout);
    process.stdin.pipe(socket);
  };
  socket.on("data", read);
  socket.on("error", () => process.exit(1));
  socket.on("close", () => process.exit(0));
  socket.write(`CONNECT ${process.argv[1]}:${process.argv[2]} HTTP/1.1\r\n\r\n`);
}
