import {
  type Arch,
  AUDIT_ARCH,
  EMULATED_AS_MISSING,
  INSPECTED,
  MODE_CALLS,
  type ModeCall,
  NETWORK,
  numberOn,
  numbersOn,
  REFUSED,
} from "./syscalls.ts";

/** The classic BPF instructions that the filter uses. */
const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const JUMP_IF_ANY_BIT = 0x45;
const AND = 0x54;
const RETURN = 0x06;

/** Offsets in `struct seccomp_data`. Of arguments only the lower half is read, as the kernel does for flags. */
const NUMBER = 0;
const ARCH = 4;
const argument = (nth: number): number => 16 + 8 * nth;

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;

/** System call numbers from here on belong to x32, a second table of the same calls. */
const X32 = 0x40000000;

const NEW_NAMESPACES =
  0x00020000 | // CLONE_NEWNS
  0x02000000 | // CLONE_NEWCGROUP
  0x04000000 | // CLONE_NEWUTS
  0x08000000 | // CLONE_NEWIPC
  0x10000000 | // CLONE_NEWUSER
  0x20000000 | // CLONE_NEWPID
  0x40000000; // CLONE_NEWNET
/** CLONE_NEWTIME, for `unshare` only; in `clone` this bit is part of a signal number. */
const NEW_TIME = 0x00000080;

/** ioctl requests that insert characters into a terminal's input as if typed. */
const TERMINAL_INPUT = [0x5412 /* TIOCSTI */, 0x541c /* TIOCLINUX */];

const INTERNET = [2 /* AF_INET */, 10 /* AF_INET6 */];
const UNIX = 1; // AF_UNIX
/** The bits of a socket's type that are no flags (SOCK_CLOEXEC, SOCK_NONBLOCK). */
const SOCKET_TYPE = 0xf;
const CONNECTED_TYPES = [1 /* SOCK_STREAM */, 5 /* SOCK_SEQPACKET */];

/** The set-user-id bit: another user who runs such a file would run it as the sandbox's user, outside the sandbox. */
const SET_USER_ID = 0o4000;
/** O_CREAT and O_TMPFILE. */
const MAKES_FILE = 0o100 | 0o20000000;

type Instruction = readonly [code: number, yes: number, no: number, value: number];

/**
 * Builds the system call filter of a sandboxed program, as a classic BPF program (little endian). Mounts and
 * namespaces confine the program already; the filter closes what they leave open: the machine's Unix sockets, the
 * memory of other processes, input to the terminal, and parts of the kernel with frequent vulnerabilities.
 */
export function seccompFilter(arch: Arch, { network }: { readonly network: boolean }): Uint8Array {
  const [clone, unshare, ioctl, socket, socketpair] = [
    numberOn(arch, INSPECTED.clone),
    numberOn(arch, INSPECTED.unshare),
    numberOn(arch, INSPECTED.ioctl),
    numberOn(arch, INSPECTED.socket),
    numberOn(arch, INSPECTED.socketpair),
  ];
  const instructions: Instruction[] = [
    [LOAD, 0, 0, ARCH],
    [JUMP_IF_EQUAL, 1, 0, AUDIT_ARCH[arch]],
    // A 32-bit program, or `int 0x80` in a 64-bit one: system call numbers differ, so the checks below would not
    // apply.
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, NUMBER],
    [JUMP_IF_AT_LEAST, 0, 1, X32],
    [RETURN, 0, 0, ENOSYS],
    ...numbersOn(arch, REFUSED).flatMap((number) => refuse(number, EPERM)),
    ...numbersOn(arch, EMULATED_AS_MISSING).flatMap((number) => refuse(number, ENOSYS)),
    ...(network ? [] : numbersOn(arch, NETWORK).flatMap((number) => refuse(number, EPERM))),
    ...inspect(clone, anyBit(0, NEW_NAMESPACES)),
    ...inspect(unshare, anyBit(0, NEW_NAMESPACES | NEW_TIME)),
    ...inspect(ioctl, anyOf(1, TERMINAL_INPUT)),
    // A datagram socket of a pair can still send to any other socket by name, and Linux makes a datagram socket of a
    // raw one.
    ...inspect(socketpair, [...onlyOf(0, [UNIX]), ...onlyOf(1, CONNECTED_TYPES, SOCKET_TYPE)]),
    ...Object.values(MODE_CALLS).flatMap((call) => setUserId(arch, call)),
    ...(network ? inspect(socket, onlyOf(0, INTERNET)) : []),
    [RETURN, 0, 0, ALLOW],
  ];
  return encode(instructions);
}

function refuse(number: number, action: number): readonly Instruction[] {
  return [
    [JUMP_IF_EQUAL, 0, 1, number],
    [RETURN, 0, 0, action],
  ];
}

/** Runs `check` for one system call. If `check` does not return, the call is allowed. */
function inspect(number: number, check: readonly Instruction[]): readonly Instruction[] {
  return [[JUMP_IF_EQUAL, 0, check.length + 1, number], ...check, [RETURN, 0, 0, ALLOW]];
}

function anyBit(nth: number, bits: number): readonly Instruction[] {
  return [
    [LOAD, 0, 0, argument(nth)],
    [JUMP_IF_ANY_BIT, 0, 1, bits],
    [RETURN, 0, 0, EPERM],
  ];
}

function setUserId(arch: Arch, call: ModeCall): readonly Instruction[] {
  const number = call.numbers[arch === "x64" ? 0 : 1];
  if (number === null) return [];
  const refused = anyBit(call.mode, SET_USER_ID);
  if (call.flags === undefined) return inspect(number, refused);
  return inspect(number, [
    [LOAD, 0, 0, argument(call.flags)],
    [JUMP_IF_ANY_BIT, 0, refused.length, MAKES_FILE],
    ...refused,
  ]);
}

function anyOf(nth: number, values: readonly number[]): readonly Instruction[] {
  return [[LOAD, 0, 0, argument(nth)], ...values.flatMap((value) => refuse(value, EPERM))];
}

/** Refuses the call unless the argument, or the masked bits of it, is one of the values. */
function onlyOf(nth: number, values: readonly number[], mask?: number): readonly Instruction[] {
  const checks = values.map((value, at): Instruction => [JUMP_IF_EQUAL, values.length - at, 0, value]);
  return [
    [LOAD, 0, 0, argument(nth)],
    ...(mask === undefined ? [] : [[AND, 0, 0, mask] as const]),
    ...checks,
    [RETURN, 0, 0, EPERM],
  ];
}

function encode(instructions: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(8 * instructions.length);
  const view = new DataView(bytes.buffer);
  instructions.forEach(([code, yes, no, value], at) => {
    view.setUint16(8 * at, code, true);
    view.setUint8(8 * at + 2, yes);
    view.setUint8(8 * at + 3, no);
    view.setUint32(8 * at + 4, value >>> 0, true);
  });
  return bytes;
}
