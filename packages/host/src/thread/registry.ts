import type { NotificationName, NotificationParams } from "@bobbin/protocol";
import type { Frame } from "@bobbin/rpc";
import { fold } from "../core/fold.ts";
import type { ThreadFacts, ThreadSettings } from "../core/life/records.ts";
import type { ThreadRecord } from "../core/records.ts";
import { fault } from "../errors.ts";
import type { Journal } from "../journal/journal.ts";
import type { Supervisor } from "../observe/supervise.ts";
import type { Platform } from "../platform/platform.ts";
import { Actor } from "./actor.ts";
import { notificationFrame } from "./notification-frame.ts";

export interface RegistryPorts {
  readonly platform: Platform;
  readonly journal: Journal;
  readonly supervisor: Supervisor;
  broadcast(actor: Actor, method: NotificationName, frame: Frame): void;
  /** Makes what performs a thread's effects; called after each change of its state. */
  runner(actor: Actor): { reconcile(): void };
}

/** All loaded threads. */
export class Registry {
  readonly #ports: RegistryPorts;
  readonly #loaded = new Map<string, Actor>();

  constructor(ports: RegistryPorts) {
    this.#ports = ports;
  }

  get loaded(): Iterable<Actor> {
    return this.#loaded.values();
  }

  get size(): number {
    return this.#loaded.size;
  }

  /** A loaded thread, or the fault that says why there is none. */
  find(threadId: string): Actor {
    const actor = this.#loaded.get(parseThreadId(threadId));
    if (actor === undefined) throw fault("threadNotFound", threadId);
    return actor;
  }

  async start(facts: ThreadFacts, settings: ThreadSettings): Promise<Actor> {
    const { platform, supervisor } = this.#ports;
    const record: ThreadRecord = { type: "created", at: platform.clock.now(), facts, settings };
    const journal = await this.#ports.journal.create(facts.id);
    const outcome = await journal.append({ seq: 1, epoch: 1, prev: 0, records: [record] });
    if (outcome.kind !== "committed") throw fault("storageFailed", `the journal answered ${outcome.kind}`);
    const actor: Actor = new Actor(fold(undefined, record), 1, {
      journal,
      platform,
      broadcast: (...told) => this.#ports.broadcast(...told),
      changed: () => runner.reconcile(),
      failed: (failing, cause) => supervisor.report(`journal of thread ${failing.id}`, cause),
      supervise: (what, work) => supervisor.take(what, work),
    });
    const runner = this.#ports.runner(actor);
    this.#loaded.set(facts.id, actor);
    return actor;
  }

  /** Tells something about a thread that no record holds. */
  announce<N extends NotificationName>(actor: Actor, method: N, params: NotificationParams<N>): void {
    actor.announce(method, notificationFrame(method, params, this.#ports.platform.clock.now()));
  }

  /** Ends every running turn: the host is about to go. */
  async interruptAll(): Promise<void> {
    const at = this.#ports.platform.clock.now();
    await Promise.all(
      [...this.#loaded.values()].map((actor) => actor.submit({ kind: "interrupt", at, turnId: null })),
    );
  }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function parseThreadId(text: string): string {
  const id = text.toLowerCase();
  if (!UUID.test(id)) throw fault("invalidThreadId", `expected a UUID, found \`${text.slice(0, 64)}\``);
  return id;
}
