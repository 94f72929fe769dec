import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { registerListener } from "../../packages/host/src/platform/own-listening-ports.ts";
import { type Attempt, perl, type Script } from "./attempt.ts";
import type { ProxyBehaviour, Stage } from "./stage.ts";

const SETTING = "network by host";

const everybody = (script: string): Script => ({ script, worksFor: "everybody" });
/** There is no proxy outside of the sandbox. */
const nobody = (script: string): Script => ({ script, worksFor: "nobody" });
const attempt = (id: string, tries: string, how: Attempt["how"]): Attempt => ({
  id: `by-host-${id}`,
  tries,
  setting: SETTING,
  how,
});
const scene = (id: string, tries: string, play: (stage: Stage) => Promise<boolean>): Attempt =>
  attempt(id, tries, { play });

/** Sends bytes to the proxy and ends with 0 if the beginning of the answer matches. Both are Perl. */
const proxied = (sent: string, matches: string): string =>
  perl(
    `socket(S, AF_INET, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in(3128, INADDR_LOOPBACK)) or exit 2; syswrite(S, ${sent}); my $t = ""; while (sysread(S, my $x, 4096)) { $t .= $x; last if length($t) >= 12 } exit($t =~ ${matches} ? 0 : 1)`,
  );
/** Whatever is neither refused nor nonsense was tried. */
const REACHED = "/^HTTP.1.1 (?!400|403)\\d/";
const connect = (authority: string): Script =>
  nobody(proxied(`"CONNECT ${authority} HTTP/1.1\\r\\n\\r\\n"`, REACHED));
const get = (url: string): Script => nobody(proxied(`"GET ${url} HTTP/1.1\\r\\n\\r\\n"`, REACHED));
/** SOCKS 5: the greeting, and a request with an address of a kind. */
const socks = (address: string): Script =>
  nobody(
    proxied(
      `"\\x05\\x01\\x00\\x05\\x01\\x00" . ${address} . pack("n", $ENV{PORT})`,
      "/^..\\x05[^\\x02\\x08]/s",
    ),
  );
const direct = (family: string, address: string): string =>
  perl(`socket(S, ${family}, SOCK_STREAM, 0) && connect(S, ${address}) or exit 1; exit 0`);
const family = (number: number, type: number): string =>
  perl(`socket(S, ${number}, ${type}, 0) or exit 1; exit 0`);

/** A server of this process, which counts as one of the host. */
async function withServer<T>(run: (port: number) => Promise<T>): Promise<T> {
  const server = createServer((_, reply) => reply.end("inside"));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  registerListener(server);
  try {
    return await run((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Commands whose proxy allows every host that somebody could allow. */
export const NETWORK_ATTEMPTS: readonly Attempt[] = [
  attempt(
    "direct",
    "connect to a port of the machine past the proxy",
    everybody(direct("AF_INET", "pack_sockaddr_in($ENV{PORT}, INADDR_LOOPBACK)")),
  ),
  attempt(
    "direct-udp",
    "send a UDP packet, such as a query for a name, past the proxy",
    nobody(
      perl(
        'socket(S, AF_INET, SOCK_DGRAM, 0) && send(S, "x", 0, pack_sockaddr_in(53, inet_aton("9.9.9.9"))) or exit 1; exit 0',
      ),
    ),
  ),
  attempt(
    "unix",
    "connect to a Unix socket of the machine, with the network by host",
    everybody(direct("AF_UNIX", 'pack_sockaddr_un("$ENV{SOCKETS}/stream")')),
  ),
  attempt(
    "unix-abstract",
    "connect to an abstract Unix socket, with the network by host",
    everybody(direct("AF_UNIX", 'pack_sockaddr_un("\\0$ENV{MARK}")')),
  ),
  attempt("netlink", "change the network of its namespace", everybody(family(16, 3))),
  attempt("raw", "send raw packets, with the network by host", { script: family(17, 3), worksFor: "root" }),
  attempt("loopback", "reach a port of the machine through the proxy", connect("127.0.0.1:$ENV{PORT}")),
  attempt("loopback-http", "the same with a plain request", get("http://127.0.0.1:$ENV{PORT}/")),
  attempt("loopback-socks", "the same by SOCKS", socks('"\\x01\\x7f\\x00\\x00\\x01"')),
  attempt("loopback-socks-name", "the same by SOCKS, with a name", socks('"\\x03\\x09localhost"')),
  attempt("loopback-range", "reach 127.1.2.3", connect("127.1.2.3:$ENV{PORT}")),
  attempt("decimal", "write the address as one number", connect("2130706433:$ENV{PORT}")),
  attempt("hexadecimal", "write the address in hexadecimal", connect("0x7f000001:$ENV{PORT}")),
  attempt("octal", "write the address in octal", connect("0177.0.0.1:$ENV{PORT}")),
  attempt("short", "leave out parts of the address", connect("127.1:$ENV{PORT}")),
  attempt("encoded", "write the address in percent signs", get("http://%31%32%37.0.0.1:$ENV{PORT}/")),
  attempt("unspecified", "reach 0.0.0.0, which is this machine", connect("0.0.0.0:$ENV{PORT}")),
  attempt("unspecified-ipv6", "reach ::, which is this machine", connect("[::]:$ENV{PORT}")),
  attempt("loopback-ipv6", "reach ::1", connect("[::1]:$ENV{PORT}")),
  attempt("mapped", "write an IPv4 address as one of IPv6", connect("[::ffff:127.0.0.1]:$ENV{PORT}")),
  attempt("mapped-hexadecimal", "the same in hexadecimal", connect("[::ffff:7f00:1]:$ENV{PORT}")),
  attempt("nat64", "reach an IPv4 address through NAT64", connect("[64:ff9b::7f00:1]:$ENV{PORT}")),
  attempt("6to4", "reach an IPv4 address through 6to4", connect("[2002:7f00:1::1]:$ENV{PORT}")),
  attempt("localhost", "reach the machine by its name", connect("localhost:$ENV{PORT}")),
  attempt("localhost-dot", "the same with a dot", connect("localhost.:$ENV{PORT}")),
  attempt("localhost-below", "the same by a name below it", connect("a.localhost:$ENV{PORT}")),
  attempt("private", "reach another machine of the network", connect("10.0.0.1:80")),
  attempt("link-local", "reach a link-local address", connect("[fe80::1]:80")),
  attempt("metadata", "ask the provider's metadata for keys", get("http://169.254.169.254/latest/")),
  attempt("metadata-ipv6", "the same by IPv6", connect("[fd00:ec2::254]:80")),
  attempt(
    "metadata-other",
    "the same of a provider with an address of its own",
    connect("100.100.100.200:80"),
  ),
  attempt("proxy-unix", "have the proxy connect to a Unix socket", connect("/run/docker.sock:80")),
  attempt("proxy-file", "have the proxy read a file", get("file:///etc/passwd")),
  attempt(
    "smuggle",
    "hide a second address behind the first one",
    connect("example.org@127.0.0.1:$ENV{PORT}"),
  ),
  scene("rebinding", "a name that leads to this machine", (stage) => rebinds(stage, [["127.0.0.1"]])),
  scene("rebinding-mixed", "a name that leads to a public address, and to this machine as well", (stage) =>
    rebinds(stage, [["93.184.216.34", "127.0.0.1", "::1", "::ffff:127.0.0.1"]]),
  ),
  scene("rebinding-later", "a name that leads elsewhere when it is looked up again", (stage) =>
    rebinds(stage, [["93.184.216.34"], ["127.0.0.1"]]),
  ),
  scene(
    "host-listener",
    "reach the host's own listener through the proxy, at an address that is listed",
    (stage) =>
      withServer(async (port) => {
        const { output } = await stage.confined(SETTING, `curl -s --noproxy "" http://127.0.0.1:${port}/`, {
          proxy: { listed: ["127.0.0.1"] },
        });
        return output.includes("inside");
      }),
  ),
  scene("other-bridge", "use the proxy of another command", (stage) =>
    whileBridged(stage, async () => {
      const { code } = await stage.confined(
        "workspace-write",
        proxied('"GET / HTTP/1.1\\r\\n\\r\\n"', "/./"),
      );
      return code === 0;
    }),
  ),
];

/** Whether the proxy connects to an address of this machine, for a name that has other addresses each time. */
async function rebinds(stage: Stage, answers: readonly (readonly string[])[]): Promise<boolean> {
  const connected: string[] = [];
  let looked = 0;
  const dial: NonNullable<ProxyBehaviour["dial"]> = {
    resolve: async () => answers[Math.min(looked++, answers.length - 1)]!,
    connect: (address) => {
      connected.push(address);
      return Promise.reject(new Error("nobody is there"));
    },
    own: () => ({ ports: new Set(), addresses: [] }),
  };
  await stage.confined(SETTING, "curl -s -p http://rebind.example/; curl -s http://rebind.example/", {
    proxy: { dial },
  });
  return looked === 0 || connected.some((address) => address !== "93.184.216.34");
}

/** Runs something while a command with a bridge runs. */
async function whileBridged(stage: Stage, run: () => Promise<boolean>): Promise<boolean> {
  let escaped = true;
  await stage.confined(SETTING, "echo ready; read x", {
    meanwhile: async () => {
      escaped = await run();
    },
  });
  return escaped;
}
