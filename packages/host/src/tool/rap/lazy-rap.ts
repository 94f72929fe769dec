import type { RapCommand } from "../../core/commands.ts";
import { outsideOf } from "../../core/rap/outside.ts";
import type { DueChoice } from "../../core/rap/records.ts";
import type { Commit, ThreadRecord } from "../../core/records.ts";
import type { ThreadState } from "../../core/state.ts";
import type { Supervisor } from "../../observe/supervise.ts";
import type { Platform } from "../../platform/platform.ts";
import { retryDelay } from "../retry-delay.ts";
import type { SourceEffects, Tool, ToolSource } from "../tool.ts";
import { cancelSubscription } from "./cancel-subscription.ts";
import type { Rap } from "./rap.ts";
import type { ServerView } from "./server-view.ts";
import type { RapSettings, ThreadServers } from "./settings.ts";

export interface LazyRapPorts {
  readonly settings: RapSettings;
  readonly platform: Pick<Platform, "clock" | "ids">;
  readonly supervisor: Supervisor;
  /** Null: of threads that bring none along. */
  serversOf(thread: Pick<ThreadState, "load" | "facts"> | null): ThreadServers;
  make(): Promise<Rap>;
  /** Whether hosts before this one have listened: calls of theirs may be under way. */
  hasListened(): Promise<boolean>;
  /** Removes what a host left behind that it should not have. */
  sweep(): Promise<void>;
}

/**
 * The tool source of tool servers. Its code is loaded, and a port is opened, only for threads that use a tool server
 * or wait for one.
 */
export class LazyRap implements ToolSource {
  readonly effects: SourceEffects = {
    postChoice: ({ choice }, thread, signal) => this.#postChoice(thread, choice, signal),
  };
  readonly #ports: LazyRapPorts;
  #making: Promise<Rap> | undefined;
  #made: Rap | undefined;

  constructor(ports: LazyRapPorts) {
    this.#ports = ports;
  }

  start(): void {
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
    const { used } = this.#ports.serversOf(thread);
    return used.length === 0 ? [] : (await this.#rap()).servers(thread, used);
  }

  /** Notifies tool servers of calls that nobody waits for any more. */
  committed({ records }: Commit, thread: ThreadState): void {
    const callIds = records.flatMap((record) => (isGivenUp(record) ? [record.callId] : []));
    if (callIds.length === 0 || !this.mustHearClosed(thread)) return;
    this.#soon("cancelling calls", async (rap) => rap.cancelled(thread, callIds));
  }

  mustHearClosed(thread: ThreadState): boolean {
    return this.#ports.serversOf(thread).told.length > 0;
  }

  closed(thread: ThreadState): void {
    this.#soon("notifying tool servers of a closing", async (rap) => rap.closed(thread));
  }

  /** Notices under way get a while to end. */
  async close(): Promise<void> {
    const rap = await this.#making;
    await rap?.close();
  }

  async stop(): Promise<void> {
    const rap = await this.#making;
    await rap?.stopListening();
  }

  /** Posts the user's choice to the tool server that asked for it. One that is away is tried again later. */
  async #postChoice(thread: ThreadState, choice: DueChoice, signal: AbortSignal): Promise<RapCommand> {
    const { platform, supervisor } = this.#ports;
    const { requestId, delays = 0 } = choice;
    let posted = false;
    try {
      posted = await (await this.#rap()).postChoice(thread, choice, signal);
    } catch (cause) {
      if (!signal.aborted) supervisor.report("posting a choice", cause);
    }
    const at = platform.clock.now();
    if (posted) return { kind: "choicePosted", at, requestId };
    return { kind: "choiceDelayed", at, requestId, until: at + retryDelay(delays, platform.ids) };
  }

  async #begin(): Promise<void> {
    const { settings, supervisor, hasListened, sweep } = this.#ports;
    if (settings.servers.length === 0 && !(await hasListened())) return;
    this.#soon("listening for tool servers", (rap) => rap.listen());
    supervisor.take("looking for secrets", sweep());
  }

  /** What a thread has outside stays, whatever becomes of the configuration. */
  #isFor(thread: ThreadState): boolean {
    const { used, told } = this.#ports.serversOf(thread);
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
