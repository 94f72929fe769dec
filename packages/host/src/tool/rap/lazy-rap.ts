import type { LoadSettings } from "@bobbin/protocol";
import type { ThreadState } from "../../core/state.ts";
import type { Supervisor } from "../../observe/supervise.ts";
import type { Tool } from "../tool.ts";
import type { Rap } from "./rap.ts";
import type { RapSettings, ThreadServers } from "./settings.ts";

export interface LazyRapPorts {
  readonly settings: RapSettings;
  readonly supervisor: Supervisor;
  serversOf(load: LoadSettings): ThreadServers;
  make(): Promise<Rap>;
}

/** Tool servers for those who have some: for all others nothing is loaded, and nothing listens. */
export class LazyRap {
  readonly #ports: LazyRapPorts;
  #making: Promise<Rap> | undefined;
  #made: Rap | undefined;

  constructor(ports: LazyRapPorts) {
    this.#ports = ports;
  }

  /** Called once, when nobody waits for the start any more. */
  begin(): void {
    if (this.#ports.settings.servers.length > 0)
      this.#soon("listening for tool servers", (rap) => rap.listen());
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
    return this.#made?.tools(thread.facts.id) ?? [];
  }

  /** Nothing more is heard of tool servers. */
  async stopListening(): Promise<void> {
    const rap = await this.#making;
    await rap?.stopListening();
  }

  #isFor({ load }: ThreadState): boolean {
    const { used, told } = this.#ports.serversOf(load);
    return used.length + told.length > 0;
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
