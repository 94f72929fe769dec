// A program that hosts run as a hook. It records its inputs, and which of its answers clients were shown.
import assert from "node:assert/strict";
import type { FakeProgram } from "./fake-spawn.ts";
import type { SimClient } from "./sim-client.ts";
import { HOME } from "./sim-host.ts";
import type { World } from "./world.ts";

export interface HookInput {
  readonly hook_event_name: string;
  readonly agent_id?: string;
  readonly turn_id: string;
  readonly prompt?: string;
  readonly tool_use_id?: string;
  readonly tool_input?: { readonly n: number };
  readonly stop_hook_active?: boolean;
}

export interface HookProgramOptions {
  /** Identifies the subject of a hook: two different questions never have the same subject. */
  subject(input: HookInput): string;
  answer(input: HookInput): object;
  /** Whether there was a power cut, after which an answered question may be asked again. */
  powerCut(): boolean;
}

/** The hook `gate` for some events. A question whose answer was shown is never asked again. */
export class HookProgram {
  /** How often it ran, in all runs of a file. */
  static runs = 0;
  readonly asked: string[] = [];
  readonly #answered = new Set<string>();

  constructor(world: World, events: readonly string[], options: HookProgramOptions) {
    const { random } = world;
    const gate: FakeProgram = async (process) => {
      const input = JSON.parse((await process.read()) ?? "{}") as HookInput;
      HookProgram.runs++;
      const subject = options.subject(input);
      this.asked.push(subject);
      world.check(() =>
        assert(options.powerCut() || !this.#answered.has(subject), `asked again: ${subject}`),
      );
      if (random.chance(0.5)) await process.sleep(random.between(1, 300));
      await process.write(JSON.stringify({ ...options.answer(input), systemMessage: subject }));
      return 0;
    };
    world.processes.programs.set("gate", gate);
    writeHooks(world, events);
  }

  /** Records what a client is shown. Each answer contains its subject. */
  attend(client: SimClient, also: () => void = () => {}): void {
    client.heard = () => {
      for (const subject of endedSubjects(client)) this.#answered.add(subject);
      also();
    };
  }
}

/** Has the program `gate` run at these events. */
export function writeHooks({ disk }: World, events: readonly string[]): void {
  const groups = [{ hooks: [{ type: "command", command: "gate" }] }];
  const hooks = Object.fromEntries(events.map((event) => [event, groups]));
  disk.put(`${HOME}/hooks.json`, JSON.stringify({ hooks }));
}

function endedSubjects({ frames }: SimClient): readonly string[] {
  return frames.flatMap(({ method, params }) => {
    if (method !== "hook/completed") return [];
    const { run } = params as { run: { entries: { kind: string; text: string }[] } };
    return run.entries.flatMap(({ kind, text }) => (kind === "warning" ? [text] : []));
  });
}
