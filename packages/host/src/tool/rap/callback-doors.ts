import { join } from "node:path";
import type { HttpDoor, HttpHandler, Platform } from "../../platform/platform.ts";

export interface DoorsPorts {
  readonly home: string;
  readonly host: string;
  readonly platform: Pick<Platform, "files" | "liveness" | "listen">;
}

interface Door {
  readonly door: HttpDoor;
  /** Others may hand over what came to them. */
  readonly announced: (() => Promise<void>) | undefined;
}

/** The ports that this host listens on. Each has a lock, by which other hosts on this home know that it is one of theirs. */
export class CallbackDoors {
  readonly #ports: DoorsPorts;
  readonly #doors = new Map<number, Door>();

  constructor(ports: DoorsPorts) {
    this.#ports = ports;
  }

  get ports(): readonly number[] {
    return [...this.#doors.keys()];
  }

  has(port: number): boolean {
    return this.#doors.has(port);
  }

  /** The port that it listens on; undefined if someone has it. 0: any. */
  async take(port: number, handle: HttpHandler): Promise<number | undefined> {
    const { platform, host } = this.#ports;
    let door: HttpDoor;
    try {
      door = await platform.listen({ host, port }, handle);
    } catch (cause) {
      if ((cause as { code?: string }).code === "EADDRINUSE") return undefined;
      throw cause;
    }
    // Where that can not be, there is no other host to hand anything over.
    const announced = await platform.liveness.announce(this.#lock(door.port)).catch(() => undefined);
    this.#doors.set(door.port, { door, announced });
    return door.port;
  }

  /** Whether another host on this home listens there. */
  async isHeld(port: number): Promise<boolean> {
    return !this.has(port) && this.#ports.platform.liveness.alive(this.#lock(port));
  }

  /** Its host is gone. */
  async forget(port: number): Promise<void> {
    await this.#ports.platform.files.remove(this.#lock(port));
  }

  /** Gives all back at once; resolves to what ends when all that is under way was answered. */
  async release(): Promise<{ readonly closed: Promise<unknown> }> {
    const doors = [...this.#doors.values()];
    this.#doors.clear();
    const closed = Promise.all(doors.map(({ door }) => door.close()));
    for (const { announced } of doors) await announced?.();
    return { closed };
  }

  #lock(port: number): string {
    return join(this.#ports.home, "live", `callbacks-${port}.lock`);
  }
}
