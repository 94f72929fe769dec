// Starts a host whose model runs commands and patches files, and summarizes what happened.
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

/** Configuration: commands may write in the workspace, and ask for more. */
export const WRITES = ['sandbox_mode = "workspace-write"', 'approval_policy = "on-request"'];

/** Like `WRITES`, but without the temporary folders, because the tests have their files there. */
export const WRITES_THERE_ONLY = [
  ...WRITES,
  "sandbox_workspace_write.exclude_slash_tmp = true",
  "sandbox_workspace_write.exclude_tmpdir_env_var = true",
];

/** Starts a host with its own home, a client and a thread. `top`: lines for the top of config.toml. */
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

/** Starts a host on an existing home, and connects a client. */
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

/** The nth request for approval of a command or patch since frame `from`. */
export function asked(client: WireClient, { nth = 1, from = 0 } = {}): Promise<Received> {
  let seen = 0;
  return client.waitFor(
    ({ method }) => (method === COMMAND_QUESTION || method === PATCH_QUESTION) && ++seen >= nth,
    "a question",
    from,
  );
}

/**
 * A summary of a turn: items of one type, requests and ends. Changes of the status are left out, because their
 * position may vary.
 */
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
