/**
 * Where a tool server keeps what must outlive it: calls under way, subscriptions and their events, authorizations.
 * Keys and values are any text. One server at a time uses a store.
 */
export interface Store {
  get(key: string): Promise<string | undefined>;
  /** When this resolves, it outlives this process; with `sync`, a power cut too. */
  set(key: string, value: string, options?: { readonly sync?: boolean }): Promise<void>;
  /** Nothing happens if there is no such key. */
  delete(key: string): Promise<void>;
  /** All entries whose key begins with this. */
  list(prefix: string): Promise<readonly (readonly [key: string, value: string])[]>;
}

/** Private folders of threads on a disk. */
export interface Folders {
  /** The folder of a thread, made if it is not there. Its path has nothing of the names in it. */
  open(tenant: string, thread: string): Promise<string>;
  /** The folder of a thread, if there is one. */
  find(tenant: string, thread: string): Promise<string | undefined>;
  /** Gone with all that is in it; nothing happens if there is none. */
  remove(tenant: string, thread: string): Promise<void>;
  /** Out of the thread's way but not gone, for people to look at; where it is now, if there was one. */
  setAside(tenant: string, thread: string): Promise<string | undefined>;
}

/** What a tool server keeps, and where. */
export interface ToolServerData {
  readonly store: Store;
  /** Without it there is no `ctx.thread.directory()`. */
  readonly folders?: Folders;
  /** Ends with the process. */
  readonly volatile?: boolean;
}

/**
 * Keeps everything in memory: for tests, and for servers whose subscriptions may be lost with them.
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
