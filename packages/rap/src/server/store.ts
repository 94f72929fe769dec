/**
 * Key-value storage for what must survive a restart of the tool server: running calls, subscriptions and their events,
 * OAuth tokens. Keys and values may be any text. Only one server at a time uses a store.
 */
export interface Store {
  /** The value of a key; undefined if there is none. */
  get(key: string): Promise<string | undefined>;
  /** Once resolved, the value survives the end of the process; with `sync` also a power cut. */
  set(key: string, value: string, options?: { readonly sync?: boolean }): Promise<void>;
  /** Does nothing if the key does not exist. */
  delete(key: string): Promise<void>;
  /** All entries whose key begins with `prefix`. */
  list(prefix: string): Promise<readonly (readonly [key: string, value: string])[]>;
}

/** Folders on disk, one per thread. */
export interface Folders {
  /** The folder of a thread, created if needed. Its path contains neither of the ids. */
  open(tenant: string, thread: string): Promise<string>;
  /** The folder of a thread, if there is one. */
  find(tenant: string, thread: string): Promise<string | undefined>;
  /** Deletes the folder and its content. Does nothing if there is no folder. */
  remove(tenant: string, thread: string): Promise<void>;
  /** Moves the folder away, for people to inspect. Resolves with its new path, or undefined if there was no folder. */
  setAside(tenant: string, thread: string): Promise<string | undefined>;
}

/** Storage of a tool server. */
export interface ToolServerData {
  /** What must survive a restart. */
  readonly store: Store;
  /** Needed for `ctx.thread.directory()`. */
  readonly folders?: Folders;
  /** True if the store is lost when the process ends. */
  readonly volatile?: boolean;
}

/**
 * Storage in memory. For tests, and for servers whose calls and subscriptions may be lost in a restart.
 *
 * @example
 * const server = createToolServer({ name: "dice", auth: noAuth, data: memoryData(), tools: [roll] });
 */
export function memoryData(): ToolServerData {
  const entries = new Map<string, string>();
  return {
    volatile: true,
    store: {
      get: async (key) => entries.get(key),
      set: async (key, value) => void entries.set(key, value),
      delete: async (key) => void entries.delete(key),
      list: async (prefix) => [...entries].filter(([key]) => key.startsWith(prefix)),
    },
  };
}
