import type { Writable } from "node:stream";
import type { ProgramSignal } from "./platform.ts";

/** Writes to the input of a program; resolves when the bytes are written. */
export async function writeTo(stream: Writable | null, bytes: Uint8Array): Promise<void> {
  if (stream === null || !stream.writable) throw new Error("the input of the program is closed");
  await new Promise<void>((resolve, reject) => {
    stream.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}

/** Sends a signal to the program's process group; false if the group no longer exists. */
export function signalGroup(pid: number, signal: ProgramSignal): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    // The process has ended already.
    return false;
  }
}
