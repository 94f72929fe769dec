// A host whose model runs commands and patches files, and what became of them in short.
import { type HostProcess, spawnHost } from "./host-process.ts";
import { MockModel, type Reply } from "./mock-model.ts";
import { modelHome } from "./model-home.ts";
import type { Received, WireClient } from "./wire-client.ts";

export interface CommandStage {
  readonly model: MockModel;
  readonly host: HostProcess;
  readonly client: WireClient;
  readonly threadId: string;
  readonly cwd: string;
  readonly home: string;
}

/** Commands may write in the workspace, and ask for more. */
export const WRITES = ['sandbox_mode = "workspace-write"', 'approval_policy = "on-request"'];

/** The same, without the temporary folders, which are where tests have their files. */
export const WRITES_THERE_ONLY = [
  ...WRITES,
  "sandbox_workspace_write.exclude_slash_tmp = true",
  "sandbox_workspace_write.exclude_tmpdir_env_var = true",
];

/** A host of its own, with a client and a thread. `top` goes to the top of config.toml. */
export async function commandStage(
  replies: readonly Reply[],
  top: readonly string[] = WRITES,
  env: Readonly<Record<string, string>> = {},
): Promise<CommandStage> {
  const model = await MockModel.start(...replies);
  const { home, cwd } = await modelHome("responses", model.url, { top });
  const { host, client } = await hostOf(home, env);
  return { model, host, client, threadId: await client.startThread({ cwd }), cwd, home };
}

/** A host on a home that is there already, and its client. */
export async function hostOf(
  home: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly host: HostProcess; readonly client: WireClient }> {
  const args = ["--listen", "ws://127.0.0.1:0"];
  const host = await spawnHost({ home, args, env: { SHELL: "/bin/bash", ...env } });
  return { host, client: await host.join(undefined, { experimentalApi: true }) };
}

export const COMMAND_QUESTION = "item/commandExecution/requestApproval";
export const PATCH_QUESTION = "item/fileChange/requestApproval";

/** The nth question about a command or a patch since `from`. */
export function asked(client: WireClient, { nth = 1, from = 0 } = {}): Promise<Received> {
  let seen = 0;
  return client.waitFor(
    ({ method }) => (method === COMMAND_QUESTION || method === PATCH_QUESTION) && ++seen >= nth,
    "a question",
    from,
  );
}

/** What became of a turn, in short: items of one type, questions and ends. Where the status changes is free. */
export function storyOf(
  frames: readonly Received[],
  type: "commandExecution" | "fileChange" = "commandExecution",
): string[] {
  return frames.flatMap(({ method, params }) => {
    if (method === COMMAND_QUESTION || method === PATCH_QUESTION) return ["asked"];
    if (method === "serverRequest/resolved") return ["resolved"];
    if (method === "turn/completed") return [`turn ${params.turn.status}`];
    return params?.item?.type === type ? [`${method} ${params.item.status}`] : [];
  });
}
