import type { Catalog } from "./catalog.ts";
import { serverKey } from "./server.ts";
import type { ToolServerSettings } from "./settings.ts";

export interface CatalogsPorts {
  readonly configured: readonly ToolServerSettings[];
  make(server: ToolServerSettings): Catalog;
}

/**
 * The catalog of each server: one for all threads that have it. Those of configured servers stay; what threads bring
 * along goes with the last of them, or whoever starts threads could fill the memory.
 */
export class Catalogs {
  readonly #ports: CatalogsPorts;
  readonly #kept = new Map<string, Catalog>();
  readonly #held = new Map<string, { readonly catalog: Catalog; holders: number }>();

  constructor(ports: CatalogsPorts) {
    this.#ports = ports;
  }

  /** A thread has these from now on. */
  hold(servers: readonly ToolServerSettings[]): void {
    for (const [key, server] of this.#brought(servers)) {
      const held = this.#held.get(key) ?? { catalog: this.#ports.make(server), holders: 0 };
      held.holders++;
      this.#held.set(key, held);
    }
  }

  /** It has them no longer. */
  release(servers: readonly ToolServerSettings[]): void {
    for (const [key] of this.#brought(servers)) {
      const held = this.#held.get(key);
      if (held !== undefined && --held.holders === 0) this.#held.delete(key);
    }
  }

  /** That of a server which nobody has is good for one question. */
  of(server: ToolServerSettings): Catalog {
    const key = serverKey(server);
    const known = this.#held.get(key)?.catalog ?? this.#kept.get(key);
    if (known !== undefined) return known;
    const made = this.#ports.make(server);
    if (this.#ports.configured.includes(server)) this.#kept.set(key, made);
    return made;
  }

  *#brought(servers: readonly ToolServerSettings[]): Iterable<readonly [string, ToolServerSettings]> {
    for (const server of servers)
      if (!this.#ports.configured.includes(server)) yield [serverKey(server), server];
  }
}
