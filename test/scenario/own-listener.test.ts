import { spawn } from "node:child_process";
import { chown } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { hasOtherUsers } from "../support/machine.ts";
import { hasSandbox } from "../support/sandbox-here.ts";
import type { WireClient } from "../support/wire-client.ts";

const EXPERIMENTAL = { experimentalApi: true };
const FULL = { sandboxPolicy: { type: "dangerFullAccess" } };

/** Asks a listener for a WebSocket and prints the status line and what follows. */
const KNOCK = `
const { connect } = require("node:net");
const [, place] = process.argv;
const socket = connect(place.startsWith("/") ? { path: place } : { host: place.split("|")[0], port: Number(place.split("|")[1]) });
socket.write("GET / HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n" +
  "Sec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\\r\\n\\r\\n");
let text = "";
socket.on("data", (bytes) => {
  text += bytes;
  if (/\\r\\n\\r\\n/.test(text)) { console.log(text); process.exit(0); }
});
socket.on("error", (error) => { console.log(error.message); process.exit(1); });
`;

/** The same from a process that is not dumpable: only root sees what it has open. */
const HIDDEN_KNOCK = `
syscall(${process.arch === "arm64" ? 167 : 157}, 4, 0, 0, 0, 0) == 0 or die "prctl: $!";
socket(S, AF_INET, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in($ARGV[0], INADDR_LOOPBACK)) or die "connect: $!";
syswrite(S, "GET / HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n" .
  "Sec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\\r\\n\\r\\n");
sysread(S, my $text, 4096);
print $text;
`;

const knock = (place: string): string[] => [process.execPath, "-e", KNOCK, place];
const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(" ");

/** What somebody else than a command of the host gets as an answer. */
async function answerToStranger(
  place: string,
  { uid, env }: { readonly uid?: number; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const [program, ...args] = knock(place);
  const stranger = spawn(program!, args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...env },
    ...(uid !== undefined && { uid, gid: uid }),
  });
  let answer = "";
  for await (const text of stranger.stdout.setEncoding("utf8")) answer += text;
  return answer;
}

async function listening(): Promise<{
  host: HostProcess;
  places: Readonly<Record<"tcp" | "unix" | "commands", string>>;
}> {
  const socket = join(await freshFolder(), "s.sock");
  const host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0", "--listen", `unix://${socket}`] });
  const { hostname, port } = new URL(await host.url());
  const commands = join(host.home, "app-server-control", `${host.pid}.sock`);
  return { host, places: { tcp: `${hostname}|${port}`, unix: socket, commands } };
}

/** What a command of the host that tries to connect gets as an answer. */
async function answerTo(client: WireClient, command: readonly string[]): Promise<string> {
  const { stdout, stderr } = await client.call("command/exec", { command, timeoutMs: 30_000, ...FULL });
  return stdout + stderr;
}

describe.each(["tcp", "unix", "commands"] as const)("a listener on %s", (kind) => {
  it("[OWN-1] refuses a command of its own host, and the processes that it started", async () => {
    const { host, places } = await listening();
    const client = await host.join(undefined, EXPERIMENTAL);
    const place = places[kind];
    expect(await answerTo(client, knock(place))).toMatch(/^HTTP\/1.1 403 .*"ownProcess"/s);
    const folder = await freshFolder();
    const ways = {
      "in a session of its own": `setsid ${quoted(knock(place))}`,
      "adopted by init": `(setsid sh -c "${quoted(knock(place)).replaceAll('"', '\\"').replaceAll("$", "\\$")}" & )`,
      "without its environment": `env -i setsid ${quoted(knock(place))}`,
      "as another user": `setpriv --reuid 65534 --clear-groups ${quoted(knock(place))}`,
    };
    for (const [way, command] of Object.entries(ways)) {
      const file = join(folder, way);
      // Its output goes to a file: what lives on after its command has no other.
      await answerTo(client, ["sh", "-c", `{ ${command}; } > '${file}' 2>&1; sleep 0.1`]);
      const shown = (): Promise<string> => answerTo(client, ["cat", file]);
      await eventually(async () => (await shown()) !== "", way);
      expect(await shown(), way).toMatch(/^HTTP\/1.1 403 .*"(ownProcess|otherUser)"|EACCES/s);
    }
  });

  it("[OWN-1] serves others while a command runs", async () => {
    const { host, places } = await listening();
    const client = await host.join(undefined, EXPERIMENTAL);
    await client.call("process/spawn", {
      command: ["sleep", "1000"],
      cwd: "/",
      processHandle: "one",
      timeoutMs: null,
    });
    expect(await answerToStranger(places[kind])).toMatch(/^HTTP\/1.1 101 /);
    const crowd = await Promise.all(Array.from({ length: 20 }, () => host.join()));
    expect(crowd).toHaveLength(20);
  });
});

describe("a listener of another host", () => {
  it("[OWN-1] refuses commands of a host of the same user, also before it has run any itself", async () => {
    const { host } = await listening();
    const { places } = await listening();
    const client = await host.join(undefined, EXPERIMENTAL);
    const refused = /^HTTP\/1.1 403 .*"ownProcess".*terminal that no Bobbin has started/s;
    expect(await answerTo(client, knock(places.tcp))).toMatch(refused);
    expect(await answerTo(client, ["setsid", "--wait", ...knock(places.tcp)])).toMatch(refused);
    const sandboxed = await client.call("command/exec", {
      command: knock(places.tcp),
      timeoutMs: 30_000,
      sandboxPolicy: { type: "workspaceWrite", networkAccess: true },
    });
    expect(sandboxed.stdout).toMatch(refused);
    expect(await answerToStranger(places.tcp)).toMatch(/^HTTP\/1.1 101 /);
  });

  it("[OWN-1] serves clients with the same mark if the host itself was started by a command", async () => {
    const mark = { BOBBIN_PROCESS: "mark-of-another-host:mark-of-a-second-one" };
    const inner = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"], env: mark });
    const { hostname, port } = new URL(await inner.url());
    const place = `${hostname}|${port}`;
    expect(await answerToStranger(place, { env: mark })).toMatch(/^HTTP\/1.1 101 /);
    expect(await answerToStranger(place)).toMatch(/^HTTP\/1.1 101 /);
    const other = { BOBBIN_PROCESS: `${mark.BOBBIN_PROCESS}:mark-of-a-third-one` };
    expect(await answerToStranger(place, { env: other })).toMatch(/^HTTP\/1.1 403 .*"ownProcess"/s);
  });
});

describe("a listener without authentication", () => {
  it("[OWN-1] refuses a command in the sandbox that has the network", async () => {
    const { host, places } = await listening();
    const client = await host.join();
    const { stdout } = await client.call("command/exec", {
      command: knock(places.tcp),
      timeoutMs: 30_000,
      sandboxPolicy: { type: "workspaceWrite", networkAccess: true },
    });
    expect(stdout).toMatch(/^HTTP\/1.1 403 .*"ownProcess"/s);
  });

  it.runIf(hasOtherUsers() && hasSandbox)(
    "[OWN-1] refuses a command that keeps the host from seeing its descriptors",
    async () => {
      const uid = 65534;
      const cwd = await freshFolder();
      await chown(cwd, uid, uid);
      const args = ["--stdio", "--listen", "ws://127.0.0.1:0"];
      const host = await spawnHost({ args, uid, cwd });
      const client = host.stdio();
      await client.initialize();
      const { stdout, stderr } = await client.call("command/exec", {
        command: ["perl", "-MSocket", "-e", HIDDEN_KNOCK, new URL(await host.url()).port],
        cwd,
        timeoutMs: 30_000,
        sandboxPolicy: { type: "workspaceWrite", networkAccess: true },
      });
      expect(stdout + stderr).toMatch(/^HTTP\/1.1 403 .*"ownProcess"/s);
    },
  );

  it("[OWN-1] refuses a process of which it cannot be told whether a host has started it", async () => {
    const { places } = await listening();
    const [program, ...args] = knock(places.tcp);
    const bare = spawn(program!, args, { stdio: ["ignore", "pipe", "inherit"], env: {} });
    let answer = "";
    for await (const text of bare.stdout.setEncoding("utf8")) answer += text;
    expect(answer).toMatch(/^HTTP\/1.1 403 .*"callerUnknown".*--ws-auth/s);
  });

  it.runIf(hasOtherUsers())("[OWN-2] refuses other users of the machine", async () => {
    const { places } = await listening();
    expect(await answerToStranger(places.tcp)).toMatch(/^HTTP\/1.1 101 /);
    expect(await answerToStranger(places.tcp, { uid: 65534 })).toMatch(/^HTTP\/1.1 403 .*"otherUser"/s);
  });
});
