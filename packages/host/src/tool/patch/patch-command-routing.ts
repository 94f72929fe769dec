import { resolve } from "node:path";
import type { Invocation, Tool } from "../tool.ts";

/** The arguments of a command tool that this module reads. */
interface CommandArguments {
  readonly cmd: string;
  readonly workdir?: string;
}

/**
 * Wraps a command tool. A command that only applies a patch becomes a call of the patch tool, with that tool's items
 * and approval.
 */
export function withPatches(command: Tool, patch: Tool): Tool {
  return {
    ...command,
    async begin(invocation) {
      const call = await patchCall(invocation);
      return call === null ? command.begin(invocation) : patch.begin(call);
    },
    async heard(invocation, question, answer) {
      const call = await patchCall(invocation);
      return call === null
        ? command.heard!(invocation, question, answer)
        : patch.heard!(call, question, answer);
    },
    async perform(invocation, ...rest) {
      const call = await patchCall(invocation);
      return call === null ? command.perform!(invocation, ...rest) : patch.perform!(call, ...rest);
    },
  };
}

/** Whether a command's text mentions apply_patch. */
export function usesPatches(text: string): boolean {
  return /\bapply_?patch\b/.test(text);
}

/**
 * The call for the patch tool; null if the command does more than apply a patch. Only the working folder changes;
 * the workspace roots stay those of the thread.
 */
async function patchCall(invocation: Invocation): Promise<Invocation | null> {
  const { cmd, workdir } = invocation.args as CommandArguments;
  // The shell parser is large. It is loaded only for commands that may contain a patch.
  if (!usesPatches(cmd)) return null;
  const { patchInCommand } = await import("./patch-in-command.ts");
  const found = patchInCommand(cmd);
  if (found === null) return null;
  const { thread } = invocation;
  const { cwd, roots = [cwd] } = thread.settings;
  const from = resolve(cwd, workdir ?? "", found.workdir ?? "");
  const settings = { ...thread.settings, cwd: from, roots };
  return { ...invocation, args: { input: found.patch }, thread: { ...thread, settings } };
}
