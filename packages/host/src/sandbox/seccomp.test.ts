import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { seccompFilter } from "./seccomp.ts";
import {
  type Arch,
  AUDIT_ARCH,
  EMULATED_AS_MISSING,
  INSPECTED,
  MODE_CALLS,
  type ModeCall,
  NETWORK,
  REFUSED,
} from "./syscalls.ts";

const ALLOWED = "allowed";
const KILLED = "killed";

interface Call {
  readonly number: number;
  readonly auditArch?: number;
  readonly args?: readonly bigint[];
}

/** Interprets a BPF filter as the kernel does. */
function decide(filter: Uint8Array, arch: Arch, { number, auditArch, args = [] }: Call): string | number {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, number, true);
  data.setUint32(4, auditArch ?? AUDIT_ARCH[arch], true);
  args.forEach((arg, nth) => {
    data.setBigUint64(16 + 8 * nth, BigInt.asUintN(64, arg), true);
  });
  const program = new DataView(filter.buffer, filter.byteOffset, filter.byteLength);
  let accumulator = 0;
  for (let at = 0; 8 * at < filter.byteLength; at++) {
    const code = program.getUint16(8 * at, true);
    const [yes, no] = [program.getUint8(8 * at + 2), program.getUint8(8 * at + 3)];
    const value = program.getUint32(8 * at + 4, true);
    if (code === 0x20) accumulator = data.getUint32(value, true);
    else if (code === 0x54) accumulator = (accumulator & value) >>> 0;
    else if (code === 0x15) at += accumulator === value ? yes : no;
    else if (code === 0x35) at += accumulator >= value ? yes : no;
    else if (code === 0x45) at += (accumulator & value) !== 0 ? yes : no;
    else if (code === 0x06) {
      if (value === 0x7fff0000) return ALLOWED;
      return value === 0x80000000 ? KILLED : value & 0xffff;
    } else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error("the filter has no end");
}

const EPERM = 1;
const ENOSYS = 38;

describe.each(["x64", "arm64"] as const)("the filter on %s", (arch) => {
  const nth = arch === "x64" ? 0 : 1;
  const off = seccompFilter(arch, { network: false });
  const on = seccompFilter(arch, { network: true });
  const call = (numbers: readonly [number, number | null]): number => numbers[nth]!;

  it("allows what programs live on", () => {
    const read = arch === "x64" ? 0 : 63;
    const exit = arch === "x64" ? 231 : 94;
    for (const filter of [off, on])
      for (const number of [read, exit]) expect(decide(filter, arch, { number })).toBe(ALLOWED);
  });

  it("refuses what reaches other processes, mounts and the kernel, with and without network", () => {
    for (const [name, numbers] of Object.entries(REFUSED))
      if (call(numbers) !== null)
        for (const filter of [off, on])
          expect(decide(filter, arch, { number: call(numbers) }), name).toBe(EPERM);
    for (const [name, numbers] of Object.entries(EMULATED_AS_MISSING))
      for (const filter of [off, on])
        expect(decide(filter, arch, { number: call(numbers) }), name).toBe(ENOSYS);
  });

  it("refuses sockets without network, and all but the Internet's with it", () => {
    for (const [name, numbers] of Object.entries(NETWORK)) {
      expect(decide(off, arch, { number: call(numbers), args: [2n] }), name).toBe(EPERM);
      expect(decide(on, arch, { number: call(numbers), args: [2n] }), name).toBe(ALLOWED);
    }
    const socket = call(INSPECTED.socket);
    expect(decide(on, arch, { number: socket, args: [10n] })).toBe(ALLOWED);
    for (const family of [0n, 1n, 3n, 16n, 17n, 38n, 40n, 44n])
      expect(decide(on, arch, { number: socket, args: [family] }), `family ${family}`).toBe(EPERM);
  });

  it("allows pairs of Unix stream and seqpacket sockets, and no others, whatever their flags", () => {
    const number = call(INSPECTED.socketpair);
    const [CLOEXEC, NONBLOCK, HIGH] = [0o2000000n, 0o4000n, 1n << 32n];
    for (const filter of [off, on])
      for (const flags of [0n, CLOEXEC, NONBLOCK, CLOEXEC | NONBLOCK, HIGH])
        for (let type = 0n; type < 16n; type++) {
          const expected = type === 1n || type === 5n ? ALLOWED : EPERM;
          expect(decide(filter, arch, { number, args: [1n, type | flags] }), `type ${type}`).toBe(expected);
          for (const family of [0n, 2n, 10n, 16n, 30n])
            expect(decide(filter, arch, { number, args: [family, type | flags] }), `family ${family}`).toBe(
              EPERM,
            );
        }
  });

  it("refuses Unix sockets of every type, with and without network", () => {
    const number = call(INSPECTED.socket);
    for (const filter of [off, on])
      for (let type = 0n; type < 16n; type++)
        expect(decide(filter, arch, { number, args: [1n, type] }), `type ${type}`).toBe(EPERM);
  });

  it("refuses new namespaces, and no threads and processes", () => {
    const [clone, unshare] = [call(INSPECTED.clone), call(INSPECTED.unshare)];
    const thread = 0x3d0f00n;
    expect(decide(off, arch, { number: clone, args: [thread] })).toBe(ALLOWED);
    expect(decide(off, arch, { number: clone, args: [17n] })).toBe(ALLOWED);
    expect(decide(off, arch, { number: unshare, args: [0x200n | 0x400n] })).toBe(ALLOWED);
    for (const flag of [0x20000n, 0x2000000n, 0x4000000n, 0x8000000n, 0x10000000n, 0x20000000n, 0x40000000n])
      for (const number of [clone, unshare])
        expect(decide(off, arch, { number, args: [flag | 17n] }), `flag ${flag}`).toBe(EPERM);
    expect(decide(off, arch, { number: unshare, args: [0x80n] })).toBe(EPERM);
  });

  it("refuses input to the terminal, also with a number that is only equal in its lower half", () => {
    const number = call(INSPECTED.ioctl);
    const [TCGETS, TIOCSTI, TIOCLINUX] = [0x5401n, 0x5412n, 0x541cn];
    expect(decide(off, arch, { number, args: [0n, TCGETS] })).toBe(ALLOWED);
    for (const request of [TIOCSTI, TIOCLINUX, TIOCSTI | (1n << 32n), TIOCLINUX | (0xffffffffn << 32n)])
      expect(decide(off, arch, { number, args: [0n, request] })).toBe(EPERM);
  });

  it("refuses files that run as their owner, when they are made and later", () => {
    for (const [name, { numbers, mode, flags }] of Object.entries<ModeCall>(MODE_CALLS)) {
      const number = call(numbers);
      if (number === null) continue;
      const args = (bits: bigint, making: bigint): bigint[] =>
        [0, 1, 2, 3].map((at) => (at === mode ? bits : at === flags ? making : 0n));
      const O_CREAT = 0o100n;
      expect(decide(off, arch, { number, args: args(0o4755n, O_CREAT) }), name).toBe(EPERM);
      expect(decide(off, arch, { number, args: args(0o2755n, O_CREAT) }), name).toBe(ALLOWED);
      if (flags !== undefined)
        expect(decide(off, arch, { number, args: args(0o4755n, 0n) }), name).toBe(ALLOWED);
    }
  });

  it("ends programs that come through another entry point, and refuses the second set of numbers", () => {
    for (const auditArch of [0x40000003, 0x40000028, AUDIT_ARCH[arch === "x64" ? "arm64" : "x64"]])
      expect(decide(off, arch, { number: 1, auditArch })).toBe(KILLED);
    expect(decide(off, arch, { number: 0x40000000 + 101 })).toBe(ENOSYS);
  });
});

const HEADERS = {
  x64: "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
  arm64: "/usr/include/asm-generic/unistd.h",
};

describe.each(["x64", "arm64"] as const)("numbers of system calls on %s", (arch) => {
  it.runIf(existsSync(HEADERS[arch]))("are those of the kernel's headers", () => {
    const header = readFileSync(HEADERS[arch], "utf8");
    const known = new Map(
      Array.from(header.matchAll(/^#define __NR(?:3264)?_(\w+)\s+(\d+)/gm), ([, name, number]) => [
        name!,
        Number(number),
      ]),
    );
    const modes = Object.entries<ModeCall>(MODE_CALLS).map(([name, { numbers }]) => [name, numbers] as const);
    const all = {
      ...REFUSED,
      ...EMULATED_AS_MISSING,
      ...NETWORK,
      ...INSPECTED,
      ...Object.fromEntries(modes),
    };
    const compared = Object.entries(all).filter(([name]) => known.has(name));
    expect(compared.length).toBeGreaterThan(50);
    for (const [name, numbers] of compared)
      expect(numbers[arch === "x64" ? 0 : 1], name).toBe(known.get(name));
  });
});
