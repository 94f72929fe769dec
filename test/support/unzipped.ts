import { inflateRawSync } from "node:zlib";

/** The files of a ZIP archive, found by its central directory. */
export function unzipped(bytes: Buffer): Map<string, string> {
  const end = bytes.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  const files = new Map<string, string>();
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
    const [method, size] = [bytes.readUInt16LE(at + 10), bytes.readUInt32LE(at + 20)];
    const [name, extra, comment] = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset));
    const local = bytes.readUInt32LE(at + 42);
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const data = bytes.subarray(start, start + size);
    const path = bytes.toString("utf8", at + 46, at + 46 + name!);
    files.set(path, (method === 8 ? inflateRawSync(data) : data).toString("utf8"));
    at += 46 + name! + extra! + comment!;
  }
  return files;
}
