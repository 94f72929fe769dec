import type { Clock } from "../../platform/platform.ts";
import type { Tool } from "../tool.ts";
import type { ToolServerSettings } from "./rap-settings.ts";
import { serverKey } from "./server-address.ts";
import type { Catalog, Offer } from "./server-catalog.ts";
import { type BoundToolset, bind, type ServerToolset } from "./toolset-binding.ts";

export interface ThreadToolsetsPorts {
  readonly clock: Clock;
  /** The catalog of a server. The same server gives the same catalog. */
  catalog(server: ToolServerSettings): Catalog;
  supervise(what: string, work: Promise<unknown>): void;
  /** Sends a warning to the thread's subscribers; returns false if there are none. */
  warn(threadId: string, problem: string): boolean;
  log(problem: string, threadId: string): void;
}

/** The tool servers that a thread is loaded with. */
export interface ThreadToolsetsLoad {
  readonly servers: readonly ToolServerSettings[];
  readonly taken: ReadonlyMap<string, string>;
  /** Whether the thread was adopted, and so continues a load that began in another host. */
  readonly adopted: boolean;
  /** The parent thread. While the parent is loaded, this thread gets the toolsets of the parent's load. */
  readonly parentId: string | null;
}

interface Binding extends ThreadToolsetsLoad {
  offered: readonly ServerToolset[];
  bound: BoundToolset | undefined;
  /** Resolves when each server has answered, or its time limit has passed. */
  asked: Promise<void>;
  /** When unavailable servers were last asked. */
  askedAt: number;
  /** Problems that no subscriber has been sent yet. */
  unsent: readonly string[];
}

/** Minimum interval between two attempts to ask an unavailable server. An attempt does not delay turns. */
const ASK_AGAIN_MS = 15_000;

/**
 * The tools that each loaded thread has from tool servers. They are requested at the load, and stay the same until
 * the next load.
 */
export class ThreadToolsets {
  readonly #ports: ThreadToolsetsPorts;
  readonly #bindings = new Map<string, Binding>();
  #lastBinding:
    | {
        readonly offered: readonly ServerToolset[];
        readonly taken: ReadonlyMap<string, string>;
        readonly bound: BoundToolset;
      }
    | undefined;

  constructor(ports: ThreadToolsetsPorts) {
    this.#ports = ports;
  }

  /** Starts to ask the servers. Only the thread's first model call waits for the answers. */
  load(threadId: string, load: ThreadToolsetsLoad): void {
    const binding: Binding = {
      ...load,
      offered: [],
      bound: undefined,
      asked: Promise.resolve(),
      askedAt: 0,
      unsent: [],
    };
    this.#bindings.set(threadId, binding);
    this.#ask(threadId, binding);
  }

  unload(threadId: string): void {
    this.#bindings.delete(threadId);
  }

  /** Resolves when the thread's tools are known. */
  async ready(threadId: string): Promise<void> {
    const binding = this.#bindings.get(threadId);
    if (binding === undefined) return;
    if (binding.bound === undefined) await binding.asked;
    else if (this.#isDue(binding)) this.#ask(threadId, binding);
    // Sends the problems of the load to clients that subscribed after the load.
    this.#warn(threadId, binding);
  }

  /** The tool servers that a thread was loaded with; undefined if the thread is not loaded. */
  servers(threadId: string): readonly ToolServerSettings[] | undefined {
    return this.#bindings.get(threadId)?.servers;
  }

  tools(threadId: string): readonly Tool[] {
    return this.#bindings.get(threadId)?.bound?.tools ?? [];
  }

  /** The offer of each server of a thread, and the tools that result from these offers; undefined until known. */
  offers(
    threadId: string,
  ): { readonly offered: readonly ServerToolset[]; readonly bound: BoundToolset } | undefined {
    const { offered, bound } = this.#bindings.get(threadId) ?? {};
    return offered && bound && { offered, bound };
  }

  #isDue({ offered, askedAt }: Binding): boolean {
    if (this.#ports.clock.monotonic() - askedAt < ASK_AGAIN_MS) return false;
    return offered.some(({ offer }) => offer.kind !== "ready");
  }

  /** Binds the offered tools. For the same offers as last time, returns the last result, so that threads share it. */
  #bind(offered: readonly ServerToolset[], taken: ReadonlyMap<string, string>): BoundToolset {
    const last = this.#lastBinding;
    const same =
      last?.taken === taken &&
      last.offered.length === offered.length &&
      offered.every(({ offer }, at) => last.offered[at]?.offer === offer);
    if (same) return last.bound;
    const bound = bind(offered, taken);
    this.#lastBinding = { offered, taken, bound };
    return bound;
  }

  #warn(threadId: string, binding: Binding): void {
    binding.unsent = binding.unsent.filter((problem) => !this.#ports.warn(threadId, problem));
  }

  #ask(threadId: string, binding: Binding): void {
    binding.askedAt = this.#ports.clock.monotonic();
    binding.asked = this.#collect(threadId, binding);
    this.#ports.supervise("asking tool servers", binding.asked);
  }

  /** The toolset of the parent thread's load. A thread and its children have the same tools of a server. */
  async #inherited({ parentId }: Binding, server: ToolServerSettings): Promise<Offer | undefined> {
    const parent = parentId === null ? undefined : this.#bindings.get(parentId);
    await parent?.asked;
    const key = serverKey(server);
    const found = parent?.offered.find((one) => serverKey(one.server) === key)?.offer;
    return found?.kind === "ready" ? found : undefined;
  }

  async #collect(threadId: string, binding: Binding): Promise<void> {
    const known = binding.offered;
    const offered = await Promise.all(
      binding.servers.map(async (server): Promise<ServerToolset> => {
        // An available toolset stays the same for the whole load.
        const before = known.find((one) => one.server === server && one.offer.kind === "ready");
        if (before !== undefined) return before;
        const inherited = await this.#inherited(binding, server);
        if (inherited !== undefined) return { server, offer: inherited };
        const catalog = this.#ports.catalog(server);
        return { server, offer: await (binding.adopted ? catalog.askAgain() : catalog.ask()) };
      }),
    );
    if (this.#bindings.get(threadId) !== binding) return;
    const reported = new Set(binding.bound?.problems);
    binding.offered = offered;
    binding.bound = this.#bind(offered, binding.taken);
    const problems = binding.bound.problems.filter((problem) => !reported.has(problem));
    for (const problem of problems) this.#ports.log(problem, threadId);
    binding.unsent = [...binding.unsent, ...problems];
    this.#warn(threadId, binding);
  }
}
