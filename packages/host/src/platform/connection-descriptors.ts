import { readFileSync } from "node:fs";
import type { Socket } from "node:net";

/**
 * Descriptors that connections leave free for files and programs: the journals that may be open at a time
 * (`MAX_OPEN`), and some for everything else.
 */
const RESERVED = 384;

/** Counts connections, and finds out which of them leave the process too few descriptors. */
export class ConnectionDescriptors {
  readonly #limit: number;
  #open = 0;
  /** Open connections whose descriptors are at or above the limit. */
  #above = 0;
  /** While there are such connections: how many connections may be open. */
  #most = Number.POSITIVE_INFINITY;

  /**
   * `limit`: the first number that no descriptor of a connection should have. A new descriptor gets the lowest free
   * number, so at the limit that many are in use.
   */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Counts a new connection until it closes. Returns whether it is one too many. */
  add(socket: Socket): boolean {
    const isAbove = descriptorOf(socket) >= this.#limit;
    this.#open++;
    if (this.#above === 0) this.#most = Number.POSITIVE_INFINITY;
    if (isAbove) {
      this.#above++;
      this.#most = Math.min(this.#most, this.#open - 1);
    }
    socket.once("close", () => {
      this.#open--;
      if (isAbove) this.#above--;
    });
    // The descriptor alone does not decide: a new connection may get the low number of one that was closed.
    return this.#open > this.#most;
  }
}

let shared: ConnectionDescriptors | undefined;

/** Counts the connections of all listeners of the process. */
export function sharedConnectionDescriptors(): ConnectionDescriptors {
  shared ??= new ConnectionDescriptors(firstReserved(openFilesLimit()));
  return shared;
}

/** The first descriptor of the reserve: the last 384, or half of a low limit. */
function firstReserved(limit: number): number {
  return Math.max(limit - RESERVED, Math.ceil(limit / 2));
}

/** The limit on open files of this process. Infinite on systems other than Linux. Node has raised it as far as it may. */
function openFilesLimit(): number {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"));
    return found === null ? Number.POSITIVE_INFINITY : Number(found[1]);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** The descriptor of an accepted connection; -1 on systems without descriptors. */
function descriptorOf(socket: Socket): number {
  return (socket as unknown as { readonly _handle?: { readonly fd?: number } })._handle?.fd ?? -1;
}
