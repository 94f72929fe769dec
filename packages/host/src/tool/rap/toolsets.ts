import type { Clock } from "../../platform/platform.ts";
import type { Tool } from "../tool.ts";
import { type Bound, bind, type Offered } from "./binding.ts";
import type { Catalog, Offer } from "./catalog.ts";
import { serverKey } from "./server.ts";
import type { ToolServerSettings } from "./settings.ts";

export interface ToolsetsPorts {
  readonly clock: Clock;
  /** Made once for each server. */
  catalog(server: ToolServerSettings): Catalog;
  supervise(what: string, work: Promise<unknown>): void;
  /** False if nobody is there to hear it. */
  tell(threadId: string, problem: string): boolean;
  log(problem: string, threadId: string): void;
}

/** What a thread is loaded with. */
export interface ToolsetsLoad {
  readonly servers: readonly ToolServerSettings[];
  readonly taken: ReadonlyMap<string, string>;
  /** It goes on with the load that it had in another host. */
  readonly adopted: boolean;
  /** The thread that began it. If that one is loaded, it has the toolsets of that one's load. */
  readonly parentId: string | null;
}

interface Binding extends ToolsetsLoad {
  offered: readonly Offered[];
  bound: Bound | undefined;
  /** Resolves when each server has answered or had its time. */
  asked: Promise<void>;
  /** When servers that were not there were last asked. */
  askedAt: number;
  /** What nobody has been told yet. */
  untold: readonly string[];
}

/** A server that was not there is asked again, behind a turn and not more often than this. */
const ASK_AGAIN_MS = 15_000;

/** The tools of each loaded thread: asked for with its load, the same until its next one. */
export class Toolsets {
  readonly #ports: ToolsetsPorts;
  readonly #bindings = new Map<string, Binding>();
  #last:
    | {
        readonly offered: readonly Offered[];
        readonly taken: ReadonlyMap<string, string>;
        readonly bound: Bound;
      }
    | undefined;

  constructor(ports: ToolsetsPorts) {
    this.#ports = ports;
  }

  /** Begins to ask; nobody waits for it but the thread's first call of its model. */
  load(threadId: string, load: ToolsetsLoad): void {
    const binding: Binding = {
      ...load,
      offered: [],
      bound: undefined,
      asked: Promise.resolve(),
      askedAt: 0,
      untold: [],
    };
    this.#bindings.set(threadId, binding);
    this.#ask(threadId, binding);
  }

  unload(threadId: string): void {
    this.#bindings.delete(threadId);
  }

  /** Resolves when it is known what the thread has. */
  async ready(threadId: string): Promise<void> {
    const binding = this.#bindings.get(threadId);
    if (binding === undefined) return;
    if (binding.bound === undefined) await binding.asked;
    else if (this.#isDue(binding)) this.#ask(threadId, binding);
    // Who came later than the load has not heard of what went wrong with it.
    this.#tell(threadId, binding);
  }

  /** Of a thread that is loaded. */
  servers(threadId: string): readonly ToolServerSettings[] | undefined {
    return this.#bindings.get(threadId)?.servers;
  }

  tools(threadId: string): readonly Tool[] {
    return this.#bindings.get(threadId)?.bound?.tools ?? [];
  }

  /** What each server offers to a thread, and what came of it. */
  offers(threadId: string): { readonly offered: readonly Offered[]; readonly bound: Bound } | undefined {
    const { offered, bound } = this.#bindings.get(threadId) ?? {};
    return offered && bound && { offered, bound };
  }

  #isDue({ offered, askedAt }: Binding): boolean {
    if (this.#ports.clock.monotonic() - askedAt < ASK_AGAIN_MS) return false;
    return offered.some(({ offer }) => offer.kind !== "ready");
  }

  /** Most threads have the same as the one before: then they share it. */
  #bind(offered: readonly Offered[], taken: ReadonlyMap<string, string>): Bound {
    const last = this.#last;
    const same =
      last?.taken === taken &&
      last.offered.length === offered.length &&
      offered.every(({ offer }, at) => last.offered[at]?.offer === offer);
    if (same) return last.bound;
    const bound = bind(offered, taken);
    this.#last = { offered, taken, bound };
    return bound;
  }

  #tell(threadId: string, binding: Binding): void {
    binding.untold = binding.untold.filter((problem) => !this.#ports.tell(threadId, problem));
  }

  #ask(threadId: string, binding: Binding): void {
    binding.askedAt = this.#ports.clock.monotonic();
    binding.asked = this.#collect(threadId, binding);
    this.#ports.supervise("asking tool servers", binding.asked);
  }

  /** What a server offers to the thread's parent. All threads of a session have the same tools of it. */
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
      binding.servers.map(async (server): Promise<Offered> => {
        // What is there stays what it is for this load.
        const before = known.find((one) => one.server === server && one.offer.kind === "ready");
        if (before !== undefined) return before;
        const inherited = await this.#inherited(binding, server);
        if (inherited !== undefined) return { server, offer: inherited };
        const catalog = this.#ports.catalog(server);
        return { server, offer: await (binding.adopted ? catalog.askAgain() : catalog.ask()) };
      }),
    );
    if (this.#bindings.get(threadId) !== binding) return;
    const told = new Set(binding.bound?.problems);
    binding.offered = offered;
    binding.bound = this.#bind(offered, binding.taken);
    const problems = binding.bound.problems.filter((problem) => !told.has(problem));
    for (const problem of problems) this.#ports.log(problem, threadId);
    binding.untold = [...binding.untold, ...problems];
    this.#tell(threadId, binding);
  }
}
