import type { LoadSettings } from "@bobbin/protocol";
import { outsideOf } from "../../core/rap/outside.ts";
import type { MadeChoice } from "../../core/rap/records.ts";
import type { Commit, ThreadRecord } from "../../core/records.ts";
import type { ThreadState } from "../../core/state.ts";
import type { Supervisor } from "../../observe/supervise.ts";
import type { Tool } from "../tool.ts";
import { cancelSubscription } from "./cancel-subscription.ts";
import type { Rap } from "./rap.ts";
import type { ServerView } from "./server-view.ts";
import type { RapSettings, ThreadServers } from "./settings.ts";

export interface LazyRapPorts {
  readonly settings: RapSettings;
  readonly supervisor: Supervisor;
  serversOf(load: LoadSettings): ThreadServers;
  make(): Promise<Rap>;
  /** Whether hosts before this one have listened: calls of theirs may be under way. */
  hasListened(): Promise<boolean>;
  /** Removes what a host left behind that it should not have. */
  sweep(): Promise<void>;
}

/**
 * Tool servers for those who have some, or wait for one that they had: for all others nothing is loaded, and nothing
 * listens.
 */
export class LazyRap {
  readonly #ports: LazyRapPorts;
  #making: Promise<Rap> | undefined;
  #made: Rap | undefined;

  constructor(ports: LazyRapPorts) {
    this.#ports = ports;
  }

  /** Called once, when nobody waits for the start any more. */
  begin(): void {
    this.#ports.supervisor.take("listening for tool servers", this.#begin());
  }

  load(thread: ThreadState): void {
    if (this.#isFor(thread)) this.#soon("loading tools", async (rap) => rap.load(thread));
  }

  unload(threadId: string): void {
    if (this.#making !== undefined) this.#soon("unloading tools", async (rap) => rap.unload(threadId));
  }

  /** Undefined: there is nothing to wait for. */
  ready(thread: ThreadState): Promise<void> | undefined {
    return this.#isFor(thread) ? this.#rap().then((rap) => rap.ready(thread.facts.id)) : undefined;
  }

  tools(thread: ThreadState): readonly Tool[] {
    if (!this.#isFor(thread)) return [];
    return [cancelSubscription, ...(this.#made?.tools(thread.facts.id) ?? [])];
  }

  /** The servers of a thread, or of all threads that say nothing else. */
  async servers(thread: ThreadState | null): Promise<readonly ServerView[]> {
    const { used } = this.#ports.serversOf(thread?.load ?? {});
    return used.length === 0 ? [] : (await this.#rap()).servers(thread, used);
  }

  async postChoice(thread: ThreadState, choice: MadeChoice, signal: AbortSignal): Promise<boolean> {
    return (await this.#rap()).postChoice(thread, choice, signal);
  }

  /** Called with every commit: calls that nobody waits for any more are told to those who work on them. */
  committed({ records }: Commit, thread: ThreadState): void {
    const callIds = records.flatMap((record) => (isGivenUp(record) ? [record.callId] : []));
    if (callIds.length === 0 || !this.mustTellClosed(thread)) return;
    this.#soon("cancelling calls", async (rap) => rap.cancelled(thread, callIds));
  }

  /** Whether anyone has to be told that a thread was closed. */
  mustTellClosed({ load }: ThreadState): boolean {
    return this.#ports.serversOf(load).told.length > 0;
  }

  tellClosed(thread: ThreadState): void {
    this.#soon("telling tool servers", async (rap) => rap.closed(thread));
  }

  /** What is under way has a while to end. */
  async close(): Promise<void> {
    const rap = await this.#making;
    await rap?.close();
  }

  /** Nothing more is heard of tool servers. */
  async stopListening(): Promise<void> {
    const rap = await this.#making;
    await rap?.stopListening();
  }

  async #begin(): Promise<void> {
    const { settings, supervisor, hasListened, sweep } = this.#ports;
    if (settings.servers.length === 0 && !(await hasListened())) return;
    this.#soon("listening for tool servers", (rap) => rap.listen());
    supervisor.take("looking for secrets", sweep());
  }

  /** What a thread has outside stays, whatever becomes of the configuration. */
  #isFor(thread: ThreadState): boolean {
    const { used, told } = this.#ports.serversOf(thread.load);
    const { calls, subscriptions } = outsideOf(thread);
    // Calls of the host's own tools go to no server.
    const away = calls.filter((server) => server !== "");
    return used.length + told.length + away.length + subscriptions.length > 0;
  }

  #soon(what: string, work: (rap: Rap) => Promise<void>): void {
    this.#ports.supervisor.take(what, this.#rap().then(work));
  }

  #rap(): Promise<Rap> {
    this.#making ??= this.#ports.make().then((rap) => {
      this.#made = rap;
      return rap;
    });
    return this.#making;
  }
}

type GivenUp = Extract<ThreadRecord, { type: "callCancelled" | "subscriptionEnded" }>;

/** Someone may work for it in vain. */
function isGivenUp(record: ThreadRecord): record is GivenUp {
  return (
    record.type === "callCancelled" || (record.type === "subscriptionEnded" && record.by === "cancelled")
  );
}
