import { spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import {
  createToolServer,
  type ToolContext,
  ToolError,
  type ToolServer,
  type ToolServerOptions,
  tool,
} from "@bobbin/rap";
import { z } from "zod";
import { changes, closeTree, inside, openTree } from "./worktree.ts";

export interface WorkspaceOptions extends Omit<ToolServerOptions, "name" | "tools"> {
  /** A git repository; each thread gets a worktree of it. */
  readonly repository: string;
}

const MAX_OUTPUT = 64 * 1024;

/** An example of data per thread and its cleanup: gives each thread a git worktree of its own. */
export function createWorkspaceServer({ repository, ...options }: WorkspaceOptions): ToolServer {
  const log = options.log ?? (() => {});
  // The tree stays on disk when the resource is closed, so that it is found after a restart of the server.
  const treeOf = ({ thread }: ToolContext): Promise<string> =>
    thread.resource(
      "tree",
      async () => openTree(repository, await thread.directory()),
      () => {},
    );
  const showChanges = async (ctx: ToolContext, tree: string): Promise<void> => {
    const patch = await changes(tree);
    await ctx.view("diff", patch === "" ? null : { patch });
  };

  const readOne = tool({
    name: "read_file",
    description: "Reads a text file of the workspace.",
    input: z.object({ path: z.string().min(1).max(4096) }),
    annotations: { readOnly: true },
    async run({ path }, ctx) {
      const file = await inside(await treeOf(ctx), path);
      return readFile(file, "utf8").catch(() => {
        throw new ToolError(`There is no file ${path} that can be read.`);
      });
    },
  });

  const writeOne = tool({
    name: "write_file",
    description: "Writes a text file of the workspace, and makes its folders.",
    input: z.object({ path: z.string().min(1).max(4096), text: z.string().max(1_000_000) }),
    annotations: { idempotent: true },
    async run({ path, text }, ctx) {
      const tree = await treeOf(ctx);
      const file = await inside(tree, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
      await showChanges(ctx, tree);
      return `Wrote ${path}.`;
    },
  });

  const runOne = tool({
    name: "run",
    description: "Runs a program in the workspace, without a shell. Ends it after ten minutes.",
    input: z.object({ program: z.string().min(1), args: z.array(z.string()).max(100).default([]) }),
    annotations: { destructive: true },
    timeoutMs: 600_000,
    async run({ program, args }, ctx) {
      const tree = await treeOf(ctx);
      const { code, output } = await runIn(tree, program, args, ctx.signal);
      await showChanges(ctx, tree);
      ctx.display({ type: "text", content: `${program} ended with ${code}` });
      return `${output}\n[exit code: ${code}]`;
    },
  });

  const showAll = tool({
    name: "show_changes",
    description: "Shows what was changed in the workspace, as a diff.",
    annotations: { readOnly: true },
    async run(_, ctx) {
      const patch = await changes(await treeOf(ctx));
      if (patch !== "") ctx.display({ type: "diff", content: { path: ".", patch } });
      return patch === "" ? "Nothing was changed." : patch;
    },
  });

  return createToolServer({
    name: "workspace",
    description: "A git worktree for each conversation",
    tools: [readOne, writeOne, runOne, showAll],
    // Also called for threads that expire, and after a restart. If it fails, the thread's folder is not deleted.
    async onThreadClosed({ id, directory }) {
      if (directory === undefined) return;
      const kept = await closeTree(repository, directory, id);
      if (kept !== undefined)
        log({ level: "info", says: "work of a closed thread was saved", thread: id, kept });
    },
    ...options,
  });
}

function runIn(
  folder: string,
  program: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly code: string; readonly output: string }> {
  return new Promise((resolve, reject) => {
    // The program must not get the token by which hosts call this server.
    const { RAP_TOKEN: _, ...env } = process.env;
    const child = spawn(program, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"], signal });
    let output = "";
    const take = (chunk: Buffer): void => {
      if (output.length < MAX_OUTPUT) output += chunk.toString("utf8").slice(0, MAX_OUTPUT - output.length);
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("error", (error) =>
      reject(signal.aborted ? signal.reason : new ToolError(`${program} could not be run: ${error.message}`)),
    );
    child.on("close", (code, ended) => resolve({ code: String(code ?? ended), output }));
  });
}
