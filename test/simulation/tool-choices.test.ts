import { describe, expect } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { checkJournals, journals } from "../model/journals.ts";
import { toolset } from "../support/tool-server.ts";
import type { FakeServer } from "./fake-network.ts";
import { simulate } from "./run.ts";
import type { SimHost } from "./sim-host.ts";
import type { World } from "./world.ts";

const DESK = "http://desk.example";
const TOOLSET = toolset(DESK, { deploy: { annotations: { idempotent: true } } });
const MINUTE = 60_000;
const CHOICES = ["here", "there"];

/** Asks the user with each call, is away for a while when the answer comes, and ends the call with it. */
class AskingDesk {
  readonly heard: number[] = [];
  readonly #world: World;
  #asked = false;
  #awayUntil: number | undefined;
  /** Called when it was to be told what was chosen. */
  told: () => void = () => {};
  #url = "";
  #group = "";

  constructor(world: World) {
    this.#world = world;
  }

  readonly serve: FakeServer = async ({ path, body }) => {
    const { random, scheduler } = this.#world;
    switch (path) {
      case "/.well-known/rap-toolset":
        return { status: 200, json: TOOLSET };
      case "/invoke":
        this.#url = body.callback_url;
        if (!this.#asked) void this.#ask(body);
        this.#asked = true;
        return { status: 200 };
      case "/answer": {
        this.#awayUntil ??= scheduler.elapsed + random.pick([0, MINUTE, 30 * MINUTE]);
        this.told();
        if (scheduler.elapsed < this.#awayUntil) return random.pick([undefined, { status: 503 }]);
        this.heard.push(body.selected);
        if (this.heard.length === 1) void this.#end(body.id, body.selected);
        return { status: 200 };
      }
      default:
        return { status: 200 };
    }
  };

  #ask({ id, group_id }: { id: string; group_id: string }): Promise<void> {
    this.#group = group_id;
    const question = { prompt: "Where to?", choices: CHOICES, default: 0, response_url: `${DESK}/answer` };
    return this.#deliver({ type: "user_choice", group_id, id, ...question });
  }

  #end(id: string, selected: number): Promise<void> {
    const text = `It is ${CHOICES[selected]}.`;
    return this.#deliver({ type: "tool_result", group_id: this.#group, id, text });
  }

  async #deliver(message: object): Promise<void> {
    for (;;) {
      const answer = await this.#world.network.post(this.#url, message);
      if (answer !== undefined && answer.status < 500) return;
      await this.#world.sleep(500, "desk");
    }
  }
}

describe.each([
  ["is awake", 8],
  ["sleeps while it waits", 1],
])("what a user chose, in a thread that %s,", (_, max_resident_threads) => {
  simulate(
    "reaches a tool server that is away for long, however often the host dies meanwhile",
    { count: 60, full: 2_000 },
    async (world) => {
      const { random, network, scheduler } = world;
      // Slower, and a server that is there is taken for one that is not.
      scheduler.pace = Math.min(scheduler.pace, 5);
      const desk = new AskingDesk(world);
      network.servers.set(DESK, desk.serve);
      world.model.scripts = ({ context }) => ({
        steps: context.some(({ type }) => type === "toolOutput")
          ? [{ do: "say", pieces: ["Done"] }]
          : [{ do: "call", name: "deploy", args: {}, callId: "call_1" }],
      });
      const config = readConfig({ max_resident_threads, rap_servers: { desk: { url: DESK } } });
      let threadId: string | undefined;
      const live = async (host: SimHost): Promise<void> => {
        const client = host.connect();
        client.rules.onlyReplies = true;
        client.heard = () => {
          const { method, id } = client.frames.at(-1)!;
          if (method !== "item/tool/requestUserInput") return;
          client.answer(id!, { result: { answers: { choice: { answers: ["there"] } } } });
        };
        await client.initialize({ experimentalApi: true });
        if (threadId !== undefined) return void (await client.call("thread/resume", { threadId }));
        threadId = await client.startThread();
        // Another one, so that the first one may sleep.
        await client.startThread();
        await client.startTurn(threadId);
      };
      for (let lives = random.between(0, 2); lives > 0; lives--) {
        const host = await world.start({ config });
        const dead = new Promise<void>((resolve) => {
          const crash = (): void => {
            host.crash(random.pick(["kill", "power"]));
            resolve();
          };
          // With the answer on its way, or long after it.
          let tries = random.between(1, 20);
          desk.told = () => {
            if (--tries === 0) scheduler.inSteps(random.between(0, 40), "crash", crash);
          };
          scheduler.inSteps(3000, "crash", crash);
        });
        await Promise.all([dead, live(host).catch(() => {})]);
      }
      desk.told = () => {};
      const host = await world.start({ config });
      await live(host);
      await world.sleep(120 * MINUTE);
      await scheduler.quiet();
      await host.close();
      world.check(() => {
        checkJournals(world.disk);
        const path = journals(world.disk).find((one) => one.includes(threadId!));
        const records = world.disk
          .text(path!)!
          .split("\n")
          .slice(0, -1)
          .flatMap((line) => (JSON.parse(line) as { records: { type: string; output?: unknown }[] }).records);
        const answers = records.filter(({ type }) => type === "toolAnswered");
        expect(answers.map(({ output }) => output)).toEqual(["It is there."]);
        expect(new Set(desk.heard)).toEqual(new Set([1]));
      });
    },
  );
});
