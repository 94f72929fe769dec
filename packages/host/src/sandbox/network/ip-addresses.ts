/** Parses an IP address into 4 or 16 bytes; null for anything else. */
export function addressBytes(address: string): readonly number[] | null {
  if (address.includes(":")) return bytesOfIPv6(address);
  const parts = address.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part))) return null;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : null;
}

function bytesOfIPv6(address: string): readonly number[] | null {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(address);
  if (dotted !== null) {
    const last = addressBytes(dotted[2]!);
    if (last === null) return null;
    const group = (at: number): string => (last[at]! * 256 + last[at + 1]!).toString(16);
    return bytesOfIPv6(`${dotted[1]}${group(0)}:${group(2)}`);
  }
  const halves = address.split("::");
  if (halves.length > 2) return null;
  const [first, last] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const groupTexts = [...first!, ...(last ?? [])];
  if (!groupTexts.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null;
  if (last === undefined ? groupTexts.length !== 8 : groupTexts.length > 7) return null;
  const zeros = Array.from({ length: 8 - groupTexts.length }, () => "0");
  const groups = last === undefined ? first! : [...first!, ...zeros, ...last];
  return groups.map((group) => Number.parseInt(group, 16)).flatMap((group) => [group >> 8, group & 0xff]);
}

type Range = readonly [bytes: readonly number[], bits: number];

/** IPv4 ranges that are not public: this machine, private networks, cloud metadata, multicast, and reserved ones. */
const LOCAL_V4: readonly Range[] = [
  [[0], 8],
  [[10], 8],
  [[100, 64], 10],
  [[127], 8],
  [[169, 254], 16],
  [[172, 16], 12],
  [[192, 0, 0], 24],
  [[192, 0, 2], 24],
  [[192, 88, 99], 24],
  [[192, 168], 16],
  [[198, 18], 15],
  [[198, 51, 100], 24],
  [[203, 0, 113], 24],
  [[224], 4],
  [[240], 4],
];

/** The only IPv6 range for public addresses, apart from `NOT_GLOBAL_V6`. */
const GLOBAL_V6: Range = [[0x20], 3];

/** Parts of `GLOBAL_V6` that are not public: tunnels that lead to an IPv4 address, and documentation ranges. */
const NOT_GLOBAL_V6: readonly Range[] = [
  [[0x20, 0x01, 0x00], 23],
  [[0x20, 0x01, 0x0d, 0xb8], 32],
  [[0x20, 0x02], 16],
  [[0x3f, 0xff, 0x00], 20],
];

const MAPPED: Range = [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], 96];

/** Whether an address is on the public internet, not on this machine or its networks. */
export function isPublicAddress(address: string): boolean {
  const bytes = plainBytes(address);
  if (bytes === null) return false;
  if (bytes.length === 4) return !LOCAL_V4.some((range) => isIn(bytes, range));
  return isIn(bytes, GLOBAL_V6) && !NOT_GLOBAL_V6.some((range) => isIn(bytes, range));
}

export function isLoopbackAddress(address: string): boolean {
  const bytes = plainBytes(address);
  if (bytes === null) return false;
  return bytes.length === 4 ? bytes[0] === 127 : bytes.every((byte, at) => byte === (at === 15 ? 1 : 0));
}

/** Whether two notations stand for the same address. */
export function isSameAddress(one: string, other: string): boolean {
  const [bytes, others] = [plainBytes(one), plainBytes(other)];
  return bytes !== null && others !== null && bytes.join() === others.join();
}

/** The bytes of an address, where an IPv4-mapped IPv6 address becomes the IPv4 address. */
function plainBytes(address: string): readonly number[] | null {
  const bytes = addressBytes(address);
  return bytes?.length === 16 && isIn(bytes, MAPPED) ? bytes.slice(12) : bytes;
}

function isIn(bytes: readonly number[], [prefix, bits]: Range): boolean {
  for (let at = 0; at * 8 < bits; at++) {
    const mask = 0xff & (0xff << Math.max(0, 8 - (bits - at * 8)));
    if ((bytes[at]! & mask) !== ((prefix[at] ?? 0) & mask)) return false;
  }
  return true;
}
