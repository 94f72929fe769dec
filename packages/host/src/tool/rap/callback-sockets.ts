import { join } from "node:path";
import type { HttpHandler, HttpListener, Platform } from "../../platform/platform.ts";

export interface CallbackSocketPorts {
  readonly home: string;
  readonly host: string;
  readonly platform: Pick<Platform, "files" | "liveness" | "listen">;
}

interface CallbackSocket {
  readonly listener: HttpListener;
  /** Releases the lock by which other hosts find this port; undefined if the lock could not be taken. */
  readonly releaseLock: (() => Promise<void>) | undefined;
}

/**
 * The TCP ports on which this host listens for callbacks. Each port has a lock file, which shows other hosts of the
 * same home that the port belongs to one of them.
 */
export class CallbackSockets {
  readonly #ports: CallbackSocketPorts;
  readonly #sockets = new Map<number, CallbackSocket>();

  constructor(ports: CallbackSocketPorts) {
    this.#ports = ports;
  }

  get ports(): readonly number[] {
    return [...this.#sockets.keys()];
  }

  has(port: number): boolean {
    return this.#sockets.has(port);
  }

  /** Listens on a port (0 for any free one). Resolves to the port; undefined if it is in use. */
  async take(port: number, handle: HttpHandler): Promise<number | undefined> {
    const { platform, host } = this.#ports;
    let listener: HttpListener;
    try {
      listener = await platform.listen({ host, port }, handle);
    } catch (cause) {
      if ((cause as { code?: string }).code === "EADDRINUSE") return undefined;
      throw cause;
    }
    // Without the lock, other hosts cannot find this host, and forward nothing to it.
    const releaseLock = await platform.liveness.announce(this.#lock(listener.port)).catch(() => undefined);
    this.#sockets.set(listener.port, { listener, releaseLock });
    return listener.port;
  }

  /** Whether another host with the same home listens on the port. */
  async isHeld(port: number): Promise<boolean> {
    return !this.has(port) && this.#ports.platform.liveness.alive(this.#lock(port));
  }

  /** Removes the lock file of a port whose host has ended. */
  async forget(port: number): Promise<void> {
    await this.#ports.platform.files.remove(this.#lock(port));
  }

  /** Stops listening on all ports at once. `closed` resolves when the requests in progress were answered. */
  async release(): Promise<{ readonly closed: Promise<unknown> }> {
    const sockets = [...this.#sockets.values()];
    this.#sockets.clear();
    const closed = Promise.all(sockets.map(({ listener }) => listener.close()));
    for (const { releaseLock } of sockets) await releaseLock?.();
    return { closed };
  }

  #lock(port: number): string {
    return join(this.#ports.home, "live", `callbacks-${port}.lock`);
  }
}
