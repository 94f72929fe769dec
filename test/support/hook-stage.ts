// Hooks that run real commands, with a mock model.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CommandStage, commandStage } from "./command-stage.ts";
import { atFileEnd } from "./file-end.ts";
import { freshFolder } from "./folder.ts";
import type { Reply } from "./mock-model.ts";
import { say } from "./model-replies.ts";
import type { WireClient } from "./wire-client.ts";

const FULL = ['sandbox_mode = "danger-full-access"', 'approval_policy = "on-request"'];

export type Hooks = Record<string, { matcher?: string; hooks: object[] }[]>;

export const hook = (command: string, more: object = {}) => ({ type: "command", command, ...more });
export const on = (event: string, command: string, more: object = {}): Hooks => ({
  [event]: [{ hooks: [hook(command, more)] }],
});
export const saying = (output: object) => `echo '${JSON.stringify(output)}'`;

/** One host for all tests of a file, because hooks are read again for each turn. */
let shared: Promise<CommandStage> | undefined;
atFileEnd(() => {
  shared = undefined;
});

export async function stage(
  hooks: Hooks,
  replies: readonly Reply[],
  params: object = {},
): Promise<CommandStage> {
  shared ??= commandStage([say("Well.")], FULL);
  const { host, model, home } = await shared;
  model.asked.length = 0;
  model.reply(...replies);
  writeFileSync(join(home, "hooks.json"), JSON.stringify({ hooks }));
  const cwd = await freshFolder("cwd");
  const client = await host.join(undefined, { experimentalApi: true });
  return { host, model, home, client, cwd, threadId: await client.startThread({ cwd, ...params }) };
}

/** The hook runs that clients were notified of. */
export const shown = (client: WireClient) =>
  client.frames.flatMap(({ method, params }) =>
    method?.startsWith("hook/") ? [`${method.slice(5)} ${params.run.eventName} ${params.run.status}`] : [],
  );
export const messages = (model: CommandStage["model"], nth: number, role: string): string[] =>
  model.asked[nth]!.body.input.flatMap(
    (item: { type: string; role?: string; content?: { text: string }[] }) =>
      item.type === "message" && item.role === role ? [item.content!.map(({ text }) => text).join("")] : [],
  );
export const read = (cwd: string, name: string) => JSON.parse(readFileSync(join(cwd, name), "utf8"));
