import {
  type Attempt,
  numberOf,
  perl,
  reachesKernel,
  type Script,
  type Setting,
  succeeds,
} from "./attempt.ts";

const everybody = (script: string): Script => ({ script, worksFor: "everybody" });
const root = (script: string): Script => ({ script, worksFor: "root" });
const nobody = (script: string): Script => ({ script, worksFor: "nobody" });

const processes = (id: string, tries: string, how: Script): Attempt => ({
  id,
  tries,
  setting: "workspace-write",
  how,
});
const sockets = (id: string, tries: string, how: Script, setting: Setting = "workspace-write"): Attempt => ({
  id,
  tries,
  setting,
  how,
});

const connect = (family: string, address: string): string =>
  perl(`socket(S, ${family}, SOCK_STREAM, 0) && connect(S, ${address}) or exit 1; exit 0`);
const PATH_SOCKET = 'pack_sockaddr_un("$ENV{SOCKETS}/stream")';
const ABSTRACT = 'pack_sockaddr_un("\\0$ENV{MARK}")';
const UNIX_CONNECT = connect("AF_UNIX", PATH_SOCKET);
const ABSTRACT_CONNECT = connect("AF_UNIX", ABSTRACT);
/** By way of `send` with an address: no connect is needed. */
const UNIX_DATAGRAM = perl(
  'socket(S, AF_UNIX, SOCK_DGRAM, 0) && send(S, "x", 0, pack_sockaddr_un("$ENV{SOCKETS}/datagram")) or exit 1; exit 0',
);
const PAIR_DATAGRAM = perl(
  'socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0) && send(A, "x", 0, pack_sockaddr_un("$ENV{SOCKETS}/datagram")) or exit 1; exit 0',
);
const family = (number: number, type: number): string =>
  perl(`socket(S, ${number}, ${type}, 0) or exit 1; exit 0`);

/** Sockets of the machine, with and without network. */
export const SOCKET_ATTEMPTS: readonly Attempt[] = [
  sockets("unix-connect", "connect to a Unix socket of the machine", everybody(UNIX_CONNECT)),
  sockets(
    "unix-connect-network",
    "connect to a Unix socket of the machine, with network",
    everybody(UNIX_CONNECT),
    "with network",
  ),
  sockets("unix-abstract", "connect to an abstract Unix socket", everybody(ABSTRACT_CONNECT)),
  sockets(
    "unix-abstract-network",
    "connect to an abstract Unix socket, with network",
    everybody(ABSTRACT_CONNECT),
    "with network",
  ),
  sockets("unix-datagram", "send to a Unix socket without connecting", everybody(UNIX_DATAGRAM)),
  sockets(
    "unix-datagram-network",
    "send to a Unix socket without connecting, with network",
    everybody(UNIX_DATAGRAM),
    "with network",
  ),
  sockets("unix-pair-datagram", "send to a Unix socket from one of a pair", everybody(PAIR_DATAGRAM)),
  sockets(
    "unix-pair-datagram-network",
    "send to a Unix socket from one of a pair, with network",
    everybody(PAIR_DATAGRAM),
    "with network",
  ),
  sockets(
    "host-socket",
    "connect to the host's own listener in its home",
    everybody(connect("AF_UNIX", 'pack_sockaddr_un("$ENV{HOST_HOME}/host.sock")')),
  ),
  sockets(
    "host-socket-network",
    "connect to the host's own listener in its home, with network",
    everybody(connect("AF_UNIX", 'pack_sockaddr_un("$ENV{HOST_HOME}/host.sock")')),
    "with network",
  ),
  sockets(
    "tmux-socket",
    "see the sockets of tmux, which runs commands outside",
    everybody('test -n "$(ls -A "$TMUX_FOLDER")"'),
  ),
  sockets(
    "user-sockets",
    "see the sockets of the user's session",
    everybody('test -n "$(ls -A "$RUNTIME_FOLDER")"'),
  ),
  sockets(
    "tcp-connect",
    "connect to a TCP port of the machine",
    everybody(connect("AF_INET", 'pack_sockaddr_in($ENV{PORT}, inet_aton("127.0.0.1"))')),
  ),
  sockets(
    "udp-send",
    "send a UDP packet",
    everybody(
      perl(
        'socket(S, AF_INET, SOCK_DGRAM, 0) && send(S, "x", 0, pack_sockaddr_in(9, inet_aton("127.0.0.1"))) or exit 1; exit 0',
      ),
    ),
  ),
  sockets(
    "tcp-listen",
    "listen on a TCP port",
    everybody(
      perl(
        "socket(S, AF_INET, SOCK_STREAM, 0) && bind(S, pack_sockaddr_in(0, INADDR_LOOPBACK)) && listen(S, 1) or exit 1; exit 0",
      ),
    ),
  ),
  sockets("ipv6", "make an IPv6 socket", everybody(family(10, 1))),
  sockets("netlink", "talk to the kernel's network settings", everybody(family(16, 3))),
  sockets(
    "netlink-network",
    "talk to the kernel's network settings, with network",
    everybody(family(16, 3)),
    "with network",
  ),
  sockets("raw", "send raw packets", root(family(17, 3))),
  sockets("raw-network", "send raw packets, with network", root(family(17, 3)), "with network"),
  sockets(
    "vsock-network",
    "talk to the machine that this virtual machine runs on",
    nobody(family(40, 1)),
    "with network",
  ),
  sockets(
    "io-uring",
    "do any of this by io_uring, which no filter sees",
    nobody(reachesKernel("io_uring_setup", 1, '"\\0" x 120')),
  ),
  sockets(
    "io-uring-network",
    "do any of this by io_uring, which no filter sees, with network",
    nobody(reachesKernel("io_uring_setup", 1, '"\\0" x 120')),
    "with network",
  ),
];

/** `clone` with these flags; both processes end at once. */
const clone = (flags: number): string =>
  perl(`exit(syscall(${numberOf("clone")}, ${flags} | 17, 0, 0, 0, 0) == -1 ? 1 : 0)`);

/** Other processes, namespaces, the kernel, the terminal. */
export const PROCESS_ATTEMPTS: readonly Attempt[] = [
  processes(
    "signal",
    "send a signal to a process outside",
    everybody('grep -q "$MARK" "/proc/$OTHER_PID/cmdline" && kill -0 "$OTHER_PID"'),
  ),
  processes(
    "see-processes",
    "see a process outside, and its arguments",
    everybody('grep -q "$MARK" "/proc/$OTHER_PID/cmdline"'),
  ),
  processes(
    "read-environment",
    "read the environment of a process outside",
    everybody('grep -q "$MARK" "/proc/$OTHER_PID/environ"'),
  ),
  processes(
    "read-memory",
    "open the memory of a process outside",
    everybody('grep -q "$MARK" "/proc/$OTHER_PID/cmdline" && exec 3< "/proc/$OTHER_PID/mem"'),
  ),
  processes("ptrace", "trace a process (ptrace)", everybody(succeeds("ptrace", 0, 0, 0, 0))),
  processes(
    "process-vm",
    "read another process's memory (process_vm_readv)",
    root(reachesKernel("process_vm_readv", "$$", "0", 0, "0", 0, 0)),
  ),
  processes(
    "process-vm-write",
    "write to another process's memory (process_vm_writev)",
    root(reachesKernel("process_vm_writev", "$$", "0", 0, "0", 0, 0)),
  ),
  processes(
    "pidfd-getfd",
    "take a descriptor of another process (pidfd_getfd)",
    everybody(reachesKernel("pidfd_getfd", -1, 0, 0)),
  ),
  processes(
    "kcmp",
    "compare kernel objects of processes (kcmp)",
    nobody(reachesKernel("kcmp", "$$", "$$", 0, 0, 0)),
  ),
  processes(
    "shared-memory",
    "attach shared memory of a process outside",
    everybody(perl("defined(shmget($ENV{SHM_KEY}, 0, 0)) or exit 1; exit 0")),
  ),
  processes(
    "unshare-user",
    "get all capabilities in a new user namespace",
    everybody(succeeds("unshare", 0x10000000)),
  ),
  processes("unshare-mount", "make a new mount namespace", root(succeeds("unshare", 0x20000))),
  processes("unshare-net", "make a new network namespace", root(succeeds("unshare", 0x40000000))),
  processes("unshare-time", "make a new time namespace", root(succeeds("unshare", 0x80))),
  processes("clone-user", "start a process in a new user namespace (clone)", everybody(clone(0x10000000))),
  processes(
    "clone3",
    "the same by clone3, whose flags a filter cannot read",
    nobody(reachesKernel("clone3", '"\\0" x 88', 0)),
  ),
  processes(
    "setns",
    "enter a namespace of another process",
    root(
      perl(
        `open(N, "<", "/proc/self/ns/net") or exit 1; exit(syscall(${numberOf("setns")}, fileno(N), 0) == -1 ? 1 : 0)`,
      ),
    ),
  ),
  processes(
    "keys",
    "read the kernel's keys of the session (keyctl)",
    everybody(reachesKernel("keyctl", 0, -3, 0, 0, 0)),
  ),
  processes(
    "add-key",
    "add a key (add_key)",
    everybody(reachesKernel("add_key", '"user"', '"escape"', '"x"', 1, -1)),
  ),
  processes("bpf", "load a program into the kernel (bpf)", root(reachesKernel("bpf", 0, '"\\0" x 128', 72))),
  processes(
    "perf",
    "watch the kernel (perf_event_open)",
    root(reachesKernel("perf_event_open", '"\\0" x 128', 0, -1, -1, 0)),
  ),
  processes(
    "userfaultfd",
    "stop the kernel in the middle (userfaultfd)",
    nobody(reachesKernel("userfaultfd", 0)),
  ),
  processes("module", "load a kernel module", nobody(reachesKernel("init_module", '"x"', 0, '""'))),
  processes("kexec", "start another kernel", nobody(reachesKernel("kexec_load", 0, 0, "0", 0x80000000))),
  processes("reboot", "restart the machine", nobody(reachesKernel("reboot", 0, 0, 0, "0"))),
  processes("kernel-log", "read the kernel's messages", root(reachesKernel("syslog", 10, "0", 0))),
  processes("hostname", "change the name of the machine", nobody(succeeds("sethostname", '"escape"', 6))),
  processes("clock", "set the clock", nobody(reachesKernel("clock_settime", 0, "0"))),
  processes(
    "fanotify",
    "watch all files of the machine (fanotify)",
    root(reachesKernel("fanotify_init", 0, 0)),
  ),
  processes(
    "terminal-input",
    "type into the terminal that the host runs on (TIOCSTI)",
    everybody(reachesKernel("ioctl", 0, 0x5412, '"x"')),
  ),
  processes(
    "terminal-input-high",
    "the same with a number that is equal in its lower half only",
    everybody(reachesKernel("ioctl", 0, "0x100005412", '"x"')),
  ),
  processes(
    "terminal-paste",
    "paste into the console (TIOCLINUX)",
    everybody(reachesKernel("ioctl", 0, 0x541c, '"\\3"')),
  ),
  processes(
    "descriptors",
    "use a descriptor that the host has left open",
    nobody(
      "for f in /proc/self/fd/*; do n=$(basename $f); if [ $n -gt 2 ] && readlink $f | grep -qvE '^(/proc/|/dev/null$)'; then exit 0; fi; done; exit 1",
    ),
  ),
  processes(
    "descriptors-of-init",
    "use a descriptor of the sandbox's first process",
    nobody(
      'for f in /proc/1/fd/*; do readlink "$f" | grep -q "^/" && [ "$(readlink "$f")" != /dev/null ] && exit 0; done; exit 1',
    ),
  ),
  processes("capabilities", "have any capability", root("grep -q '^CapEff:.*[1-9a-f]' /proc/self/status")),
  processes(
    "new-privileges",
    "get privileges by running a set-user-ID program",
    everybody("grep -q '^NoNewPrivs:.*0' /proc/self/status"),
  ),
  processes(
    "x32",
    "make system calls by their x32 numbers, which a filter might not know",
    nobody(perl("$! = 0; syscall(0x40000000 + 39); exit($!{ENOSYS} ? 1 : 0)")),
  ),
  processes("i386", "make system calls through the 32-bit entry point", nobody('"$WORK/i386"')),
];
