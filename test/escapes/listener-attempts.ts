import { join } from "node:path";
import { arch } from "node:process";
import { spawnHost } from "../support/host-process.ts";
import type { Attempt } from "./attempt.ts";
import type { Stage } from "./stage.ts";

const [SENDMSG, RECVMSG, EXIT, UNSHARE] = arch === "arm64" ? [211, 212, 93, 97] : [46, 47, 60, 272];
const CLONE_FILES = 0x400;

/** Perl code that connects to the port and sends a request for a WebSocket without its last byte, which `END` sends. */
const BEGIN = `
  socket(S, AF_INET, SOCK_STREAM, 0) && connect(S, pack_sockaddr_in($ARGV[0], INADDR_LOOPBACK)) or die "connect: $!";
  syswrite(S, "GET / HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n" .
    "Sec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\\r\\n\\r");`;
const END = `syswrite(S, "\\n");`;
const ANSWER = `sysread(S, my $text, 4096); syswrite(STDOUT, $text);`;

/** Perl code that requests a WebSocket and prints the reply. */
export const KNOCK = `${BEGIN} ${END} ${ANSWER}`;

/** Perl code that makes a message of `sendmsg` and `recvmsg` with the descriptor `$fd`, or with room for one. */
const MESSAGE = `
  my $byte = "x"; my $part = pack("PQ", $byte, 1);
  my $control = pack("QllLx4", 20, 1, 1, $fd);
  my $message = pack("QLx4PQPQLx4", 0, 0, $part, 1, $control, 24, 0);`;

/** Perl code that sends the socket `S` into a socket pair, from which `TAKE_BACK` receives it. */
const SEND_AWAY = `
  socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or die "socketpair: $!";
  { my $fd = fileno(S); ${MESSAGE} syscall(${SENDMSG}, fileno(A), $message, 0) == 1 or die "sendmsg: $!"; }`;
const TAKE_BACK = `
  { my $fd = 0; ${MESSAGE} syscall(${RECVMSG}, fileno(B), $message, 0) == 1 or die "recvmsg: $!";
    open(S, "+<&=", (unpack("QllL", $control))[3]) or die "open: $!"; }`;

/** Ways to hold a connection, in Perl. Each prints the reply to its request for a WebSocket. */
const WAYS = {
  thread: {
    tries: "connect to the host that runs the command from a thread with a descriptor table of its own",
    perl: `use threads; threads->create(sub {
      syscall(${UNSHARE}, ${CLONE_FILES}) == 0 or die "unshare: $!"; ${BEGIN} ${END} ${ANSWER} })->join;`,
  },
  "ended-thread": {
    tries: "the same from a process whose first thread has ended",
    perl: `use threads; my $first = $$; threads->create(sub {
      for (;;) { open(F, "/proc/$first/stat"); my $stat = <F>; close(F); last if $stat =~ /\\) Z /; select(undef, undef, undef, 0.01); }
      ${BEGIN} ${END} ${ANSWER} syscall(${arch === "arm64" ? 94 : 231}, 0); }); syscall(${EXIT}, 0);`,
  },
  forks: {
    tries: "the same by a socket that one process after the other hands down",
    perl: `${BEGIN} ${END}
      for (1..300) { my $child = fork(); next if $child == 0; exit(0); } ${ANSWER}`,
  },
  passed: {
    tries: "the same by a socket that was sent to another process through a socket pair",
    perl: `${BEGIN} ${SEND_AWAY} close(S);
      if (fork() == 0) { ${TAKE_BACK} ${END} ${ANSWER} exit(0); } wait;`,
  },
  "in-flight": {
    tries: "the same by a socket that is in no process while the host looks",
    // The command receives the socket when the kernel shows that a reply of the host has arrived.
    perl: `${BEGIN} my $port = sprintf("%04X", (unpack_sockaddr_in(getsockname(S)))[0]); ${SEND_AWAY} ${END} close(S);
      for (;;) { open(F, "/proc/net/tcp"); last if grep(/^ *[0-9]+: [^ ]+:$port [^ ]+ [^ ]+ [^ ]+:(?!0+ )/, <F>); select(undef, undef, undef, 0.01); }
      ${TAKE_BACK} ${ANSWER}`,
  },
  erased: {
    tries: "the same from a process that has overwritten its environment",
    perl: `open(M, "/proc/self/stat"); my @f = split(/ /, <M> =~ s/^.*\\) //r);
      open(W, "+<", "/proc/self/mem") or die "mem: $!"; sysseek(W, $f[47], 0); syswrite(W, "x" x ($f[48] - $f[47])) or die "write: $!";
      ${BEGIN} ${END} ${ANSWER}`,
  },
} as const;

export const LISTENER_ATTEMPTS: readonly Attempt[] = [
  ...Object.entries(WAYS).map(
    ([name, { tries, perl }]): Attempt => ({
      id: `own-listener-${name}`,
      tries,
      setting: "with network",
      how: { play: (stage) => isServed(stage, perl, false) },
    }),
  ),
  ...(["thread", "in-flight", "erased"] as const).map(
    (name): Attempt => ({
      id: `other-listener-${name}`,
      tries: `connect to another host of the same user: ${WAYS[name].tries.replace(/^(the same|.*command) /, "")}`,
      setting: "with network",
      how: { play: (stage) => isServed(stage, WAYS[name].perl, true) },
    }),
  ),
];

/** Whether a command gets a WebSocket of the host that runs it, or of another one. */
export async function isServed(stage: Stage, perl: string, byOther: boolean): Promise<boolean> {
  const cwd = join(stage.folder, "work");
  const start = () => spawnHost({ args: ["--stdio", "--listen", "ws://127.0.0.1:0"], uid: stage.uid, cwd });
  const hosts = byOther ? [await start(), await start()] : [await start()];
  try {
    const client = hosts[0]!.stdio();
    await client.initialize();
    const { port } = new URL(await hosts.at(-1)!.url());
    const { stdout, stderr } = await client.call("command/exec", {
      command: ["sh", "-c", 'perl -MSocket -e "$0" "$1" | cat', perl, port],
      cwd,
      timeoutMs: 30_000,
      sandboxPolicy: { type: "workspaceWrite", networkAccess: true },
    });
    if (!stdout.startsWith("HTTP/1.1 ")) throw new Error(`no answer: ${stdout}${stderr}`);
    return !stdout.startsWith("HTTP/1.1 403 ");
  } finally {
    for (const host of hosts) await host.kill();
  }
}
