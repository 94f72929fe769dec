import type { CallbackSubject } from "@bobbin/rap/runtime";
import { LIMITS } from "@bobbin/rap/wire";
import type { Cancel, Clock, Timers } from "../../platform/platform.ts";

export interface ReadingPorts {
  readonly clock: Clock;
  readonly timers: Timers;
}

/**
 * Limits on the bodies that are read at the same time: per call, per thread and in total. A slow sender blocks only
 * itself.
 */
const MAX_OF_CALL = 16;
const MAX_OF_THREAD = 64;
const MAX_OF_ALL = 1024;
/** Limits on the bytes of incomplete bodies in memory: per thread and in total. */
const MAX_THREAD_BYTES = 2 * LIMITS.callbackBytes;
const MAX_BYTES = 16 * LIMITS.callbackBytes;
/** Time limit for a body, and additional time for each MiB that has arrived. */
const BODY_MS = 10_000;
const MIB_MS = 1000;

interface Share {
  bodies: number;
  bytes: number;
}

/** Reads the bodies of callbacks, with limits on number, size and time. */
export class CallbackBodyReader {
  readonly #ports: ReadingPorts;
  readonly #calls = new Map<string, Share>();
  readonly #threads = new Map<string, Share>();
  readonly #all: Share = { bodies: 0, bytes: 0 };

  constructor(ports: ReadingPorts) {
    this.#ports = ports;
  }

  /** Resolves to the body, or to the HTTP status that refuses it. Rejects if the sender disconnects. */
  async read(
    { threadId, load, callId }: CallbackSubject,
    body: AsyncIterable<Uint8Array>,
  ): Promise<Uint8Array | number> {
    const callKey = `${threadId} ${load} ${callId}`;
    const call = this.#calls.get(callKey) ?? { bodies: 0, bytes: 0 };
    const thread = this.#threads.get(threadId) ?? { bodies: 0, bytes: 0 };
    const shares = [call, thread, this.#all];
    if (call.bodies >= MAX_OF_CALL || thread.bodies >= MAX_OF_THREAD || this.#all.bodies >= MAX_OF_ALL)
      return 503;
    this.#calls.set(callKey, call);
    this.#threads.set(threadId, thread);
    for (const share of shares) share.bodies++;
    let length = 0;
    const deadline = this.#deadline(() => length);
    try {
      const chunks: Uint8Array[] = [];
      for (const iterator = body[Symbol.asyncIterator](); ; ) {
        const read = await Promise.race([iterator.next(), deadline.passed]);
        if (read === "late") return 503;
        if (read.done === true) return Buffer.concat(chunks);
        const { byteLength } = read.value;
        length += byteLength;
        for (const share of shares) share.bytes += byteLength;
        if (length > LIMITS.callbackBytes) return 413;
        if (thread.bytes > MAX_THREAD_BYTES || this.#all.bytes > MAX_BYTES) return 503;
        chunks.push(read.value);
      }
    } finally {
      deadline.cancel();
      for (const share of shares) {
        share.bodies--;
        share.bytes -= length;
      }
      if (call.bodies === 0) this.#calls.delete(callKey);
      if (thread.bodies === 0) this.#threads.delete(threadId);
    }
  }

  #deadline(length: () => number): { readonly passed: Promise<"late">; readonly cancel: Cancel } {
    const { clock, timers } = this.#ports;
    const startedAt = clock.monotonic();
    let cancel: Cancel = () => {};
    const passed = new Promise<"late">((resolve) => {
      const check = (): void => {
        const left = startedAt + BODY_MS + (length() / 2 ** 20) * MIB_MS - clock.monotonic();
        if (left <= 0) resolve("late");
        else cancel = timers.after(left, check);
      };
      check();
    });
    return { passed, cancel: () => cancel() };
  }
}
