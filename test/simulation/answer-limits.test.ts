import type { TurnError } from "@bobbin/protocol";
import { describe, expect } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import type { ModelScripts } from "./fake-model.ts";
import type { Message } from "./frame-rules.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";

const config = readConfig({
  model_item_max_bytes: 100,
  model_answer_max_bytes: 250,
  model_answer_max_calls: 3,
  turn_max_calls: 5,
});

/** Text without end, in pieces of ten bytes. */
function* endless(): Iterable<string> {
  for (let nth = 0; ; nth++) yield `${nth}`.padStart(9, "0").concat(" ");
}

const say = { do: "say", pieces: ["x".repeat(40), "y".repeat(50)] } as const;
const mumble = { do: "mumble", pieces: { [Symbol.iterator]: () => endless()[Symbol.iterator]() } } as const;
const call = { do: "call", name: "no_such_tool", args: {} } as const;

interface Limited {
  readonly scripts: ModelScripts;
  /** How often the model is asked until its turn ends. */
  readonly asked: number;
  readonly key: string;
}

const LIMITED: { readonly [code: string]: Limited } = {
  itemTooLarge: {
    scripts: () => ({ steps: [mumble] }),
    asked: 1,
    key: "model_item_max_bytes",
  },
  answerTooLarge: {
    scripts: () => ({ steps: [say, say, mumble] }),
    asked: 1,
    key: "model_answer_max_bytes",
  },
  answerTooManyCalls: {
    scripts: () => ({ steps: [say, call, call, call, call, mumble] }),
    asked: 1,
    key: "model_answer_max_calls",
  },
  turnTooManyCalls: {
    scripts: () => ({ steps: [call, call] }),
    asked: 3,
    key: "turn_max_calls",
  },
};

describe("an answer past a limit", () => {
  for (const [code, { scripts, asked, key }] of Object.entries(LIMITED)) {
    simulate(`[MODEL-10] fails its turn as ${code}`, { count: 20, full: 200 }, async (world) => {
      world.model.scripts = scripts;
      const host = await world.start({ config });
      const client = host.connect();
      await client.initialize();
      const threadId = await client.startThread();
      const turnId = await client.startTurn(threadId);
      await client.turnEnd(turnId);
      world.check(() => {
        expect(errorOf(client, turnId)).toMatchObject({ code, codexErrorInfo: "other" });
        expect(errorOf(client, turnId)!.message).toContain(`${key} in config.toml`);
        expect(world.model.calls).toBe(asked);
        const texts = shownTexts(client);
        for (const { shown, completed } of texts) {
          expect(completed).toBe(shown);
          expect(shown.length).toBeLessThanOrEqual(100);
        }
        expect(texts.reduce((sum, { shown }) => sum + shown.length, 0)).toBeLessThanOrEqual(250);
      });
      // Whatever was left of it must not disturb the next turn, which counts anew.
      world.model.scripts = (_request, _random, nth) => ({ steps: nth === asked + 1 ? [call, call] : [say] });
      const next = await client.startTurn(threadId);
      await client.turnEnd(next);
      world.check(() => expect(errorOf(client, next)).toBeNull());
      await host.close();
    });
  }

  simulate("[MODEL-10] fails a summary and a review alike", { count: 20, full: 200 }, async (world) => {
    world.model.scripts = (_request, _random, nth) => ({ steps: nth === 1 ? [say] : [mumble] });
    const host = await world.start({ config });
    const client = host.connect();
    await client.initialize();
    const threadId = await client.startThread();
    await client.turnEnd(await client.startTurn(threadId));
    await client.call("thread/compact/start", { threadId });
    await client.until("the end of the summary", (frame) => endOf(frame)?.error?.code === "itemTooLarge");
    const target = { type: "custom", instructions: "Look at it." };
    const { turn } = await client.call("review/start", { threadId, target });
    const { id } = turn as { id: string };
    await client.turnEnd(id);
    world.check(() => expect(errorOf(client, id)!.code).toBe("itemTooLarge"));
    await host.close();
  });

  simulate("leaves a turn that is interrupted before as that", { count: 20, full: 200 }, async (world) => {
    world.model.scripts = () => ({ steps: [mumble] });
    const host = await world.start({ config });
    const client = host.connect();
    await client.initialize();
    const threadId = await client.startThread();
    const turnId = await client.startTurn(threadId);
    for (let left = world.random.between(0, 12); left > 0; left--) await world.moment();
    await client.request("turn/interrupt", { threadId, turnId });
    await client.turnEnd(turnId);
    world.check(() => expect([undefined, "itemTooLarge"]).toContain(errorOf(client, turnId)?.code));
    await host.close();
  });
});

function endOf({ method, params }: Message): { id: string; error: TurnError | null } | undefined {
  return method === "turn/completed" ? (params!.turn as { id: string; error: TurnError | null }) : undefined;
}

function errorOf(client: SimClient, turnId: string): TurnError | null {
  return client.frames.map(endOf).find((turn) => turn?.id === turnId)!.error;
}

/** The text of every message of the model, as its pieces made it up and as it completed. */
function shownTexts({ frames }: SimClient): { shown: string; completed: string }[] {
  return frames.flatMap(({ method, params }) => {
    const item = params?.item as { type: string; id: string; text: string } | undefined;
    if (method !== "item/completed" || item?.type !== "agentMessage") return [];
    const shown = frames
      .filter((frame) => frame.method === "item/agentMessage/delta" && frame.params!.itemId === item.id)
      .map((frame) => frame.params!.delta)
      .join("");
    return [{ shown, completed: item.text }];
  });
}
