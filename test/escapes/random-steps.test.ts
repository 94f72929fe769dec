// Random sequences of steps, in workspaces of every layout, with nobody who approves.
import { existsSync } from "node:fs";
import { readdir, readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { times } from "../support/long-form.ts";
import { MockModel, type Reply } from "../support/mock-model.ts";
import { callTool, patchOf, run, say } from "../support/model-replies.ts";
import { STUCK_MS } from "../support/patience.ts";
import { hasSandbox } from "../support/sandbox-here.ts";
import { KEY, signedBearer } from "../support/signed-token.ts";
import type { WireClient } from "../support/wire-client.ts";
import { type Step, steps } from "./random-steps.ts";
import { HOME_CANARY, LAYOUTS, OUTSIDE_CANARY, type Workspace, World } from "./random-world.ts";

let world: World;
let model: MockModel;
let clients: Record<"user" | "subject", WireClient>;

beforeAll(async () => {
  if (!hasSandbox) return;
  world = await World.build(await freshFolder("random"));
  model = await MockModel.start(say("Done."));
  const config = [
    `# ${HOME_CANARY}`,
    'model = "mock-model"',
    'model_provider = "mock"',
    "[model_providers.mock]",
    'name = "Mock"',
    `base_url = "${model.url}"`,
    'wire_api = "responses"',
    "[subjects.cara]",
    `roots = ["${world.subjects}"]`,
  ];
  await writeFile(join(world.home, "config.toml"), config.join("\n"));
  await writeFile(join(world.home, "key"), KEY);
  const auth = ["--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", join(world.home, "key")];
  const args = ["--listen", "stdio://", "--listen", "ws://127.0.0.1:0", ...auth];
  const host = await spawnHost({ home: world.home, args, env: { SHELL: "/bin/bash", ...world.env } });
  const [user, subject] = [host.stdio(), await host.connect(undefined, signedBearer("cara"))];
  clients = { user, subject };
  for (const client of [user, subject]) await client.initialize({ experimentalApi: true });
});

/** The reply of the model that makes a step. */
function replyOf({ kind, text }: Step, nth: number, cwd: string): Reply {
  const variables = { OUTSIDE: world.outside, HOST_HOME: world.home, RAN: world.ran };
  const named = (line: string): string =>
    line.replace(/\$(OUTSIDE|HOST_HOME|RAN)/g, (_, name: keyof typeof variables) => variables[name]);
  if (kind === "patch")
    return callTool("apply_patch", { input: patchOf(...named(text).split("\n")) }, `c${nth}`);
  const yields = kind === "background" ? { yield_time_ms: 250 } : {};
  return run({ cmd: named(text), workdir: cwd, ...yields }, `c${nth}`);
}

/** Plays steps as one turn of a new thread. Resolves with all that the client and the model got. */
async function play(client: WireClient, workspace: Workspace, sequence: readonly Step[]): Promise<string> {
  const [frames, requests] = [client.frames.length, model.asked.length];
  const threadId = await client.startThread({
    cwd: workspace.cwd,
    approvalPolicy: "never",
    sandbox: "workspace-write",
  });
  model.reply(...sequence.map((one, nth) => replyOf(one, nth, workspace.cwd)), say("Done."));
  const { turn } = await client.call("turn/start", {
    threadId,
    input: [{ type: "text", text: "Get out." }],
    sandboxPolicy: {
      type: "workspaceWrite",
      writableRoots: workspace.writable.slice(1),
      networkAccess: false,
      excludeSlashTmp: true,
      excludeTmpdirEnvVar: true,
    },
  });
  await client.turnCompleted(turn.id);
  // The background steps still exchange folders.
  if (client === clients.user) userRunsGit(workspace);
  await client.call("thread/unload", { threadId });
  const seen = [...client.frames.slice(frames), ...model.asked.slice(requests).map(({ body }) => body)];
  return JSON.stringify(seen);
}

function userRunsGit({ repositories }: Workspace): void {
  for (const cwd of repositories)
    for (const args of [["status"], ["diff"], ["log", "-1"], ["diff", "--cached"]]) world.git(cwd, ...args);
}

/** The processes that have their working folder in a folder. */
async function processesIn(folder: string): Promise<readonly string[]> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const folders = await Promise.all(ids.map((id) => readlink(`/proc/${id}/cwd`).catch(() => "")));
  return ids.filter((_, nth) => folders[nth]!.startsWith(folder));
}

describe.runIf(hasSandbox)("whatever a model does with nobody who approves", () => {
  it.each(["user", "subject"] as const)(
    "[SANDBOX-13] changes, reads and starts nothing outside, for a %s",
    async (who) => {
      const property = fc.asyncProperty(fc.constantFrom(...LAYOUTS), steps, async (layout, sequence) => {
        const workspace = await world.workspace(layout, who === "subject");
        const before = await world.around(workspace);
        const seen = await play(clients[who], workspace, sequence);
        if (who === "user") {
          userRunsGit(workspace);
          for (const cwd of workspace.repositories) world.git(cwd, "add", ".");
          // Both are reported, and not prevented.
          if (!/has become a git repository|were added to the index/.test(seen))
            expect(existsSync(world.ran), "git ran a program").toBe(false);
        }
        expect(await world.around(workspace)).toEqual(before);
        expect(seen).not.toContain(HOME_CANARY);
        if (who === "subject") expect(seen).not.toContain(OUTSIDE_CANARY);
        expect(await leftovers(workspace)).toEqual([]);
        await world.remove(workspace);
      });
      await fc.assert(property, { numRuns: times(10, 120), endOnFailure: true });
    },
    STUCK_MS,
  );
});

/** What the host has left: placeholders, drafts of patches, processes. */
async function leftovers({ folder }: Workspace): Promise<readonly string[]> {
  const masks = await readdir(join(world.home, "sandbox-masks")).catch(() => []);
  const names = await readdir(folder, { recursive: true });
  const placeholders = await Promise.all(
    names
      .filter((name) => name.endsWith("/commondir"))
      .map(async (name) => ({ name, text: await readFile(join(folder, name), "utf8").catch(() => "") })),
  );
  return [
    ...masks.filter((name) => name.length === 32),
    ...names.filter((name) => name.endsWith("bobbin-draft")),
    ...placeholders.filter(({ text }) => text.endsWith("\n\n")).map(({ name }) => name),
    ...(await processesIn(folder)),
  ];
}
