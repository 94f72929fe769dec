import type { ToolServerSettings } from "./rap-settings.ts";
import { serverKey } from "./server-address.ts";
import type { Catalog } from "./server-catalog.ts";

export interface CatalogRegistryPorts {
  readonly configured: readonly ToolServerSettings[];
  make(server: ToolServerSettings): Catalog;
}

/**
 * The catalogs of all tool servers, one per server configuration. Catalogs of configured servers are kept. The
 * catalog of a server that a thread brought along is dropped with the last thread that uses it, so that threads
 * cannot fill the memory.
 */
export class CatalogRegistry {
  readonly #ports: CatalogRegistryPorts;
  readonly #configured = new Map<string, Catalog>();
  readonly #byThreads = new Map<string, { readonly catalog: Catalog; holders: number }>();

  constructor(ports: CatalogRegistryPorts) {
    this.#ports = ports;
  }

  /** Counts a thread as a user of its servers' catalogs. */
  hold(servers: readonly ToolServerSettings[]): void {
    for (const [key, server] of this.#broughtByThreads(servers)) {
      const entry = this.#byThreads.get(key) ?? { catalog: this.#ports.make(server), holders: 0 };
      entry.holders++;
      this.#byThreads.set(key, entry);
    }
  }

  /** Ends a thread's use of its servers' catalogs. */
  release(servers: readonly ToolServerSettings[]): void {
    for (const [key] of this.#broughtByThreads(servers)) {
      const entry = this.#byThreads.get(key);
      if (entry !== undefined && --entry.holders === 0) this.#byThreads.delete(key);
    }
  }

  /**
   * The catalog of a server. For a server that is not configured and that no thread uses, a new catalog, which is not
   * kept.
   */
  of(server: ToolServerSettings): Catalog {
    const key = serverKey(server);
    const known = this.#byThreads.get(key)?.catalog ?? this.#configured.get(key);
    if (known !== undefined) return known;
    const created = this.#ports.make(server);
    if (this.#ports.configured.includes(server)) this.#configured.set(key, created);
    return created;
  }

  *#broughtByThreads(
    servers: readonly ToolServerSettings[],
  ): Iterable<readonly [string, ToolServerSettings]> {
    for (const server of servers)
      if (!this.#ports.configured.includes(server)) yield [serverKey(server), server];
  }
}
