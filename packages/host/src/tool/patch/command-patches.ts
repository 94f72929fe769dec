import { resolve } from "node:path";
import type { Invocation, Tool } from "../tool.ts";

/** The arguments of a command that matter here. */
interface CommandArguments {
  readonly cmd: string;
  readonly workdir?: string;
}

/**
 * A tool that runs commands, but for those that do nothing but apply a patch: these are calls of the patch tool, with
 * its items and its consent.
 */
export function withPatches(command: Tool, patch: Tool): Tool {
  return {
    ...command,
    async begin(invocation) {
      const asked = await patchCall(invocation);
      return asked === null ? command.begin(invocation) : patch.begin(asked);
    },
    async heard(invocation, question, answer) {
      const asked = await patchCall(invocation);
      return asked === null
        ? command.heard!(invocation, question, answer)
        : patch.heard!(asked, question, answer);
    },
    async perform(invocation, ...rest) {
      const asked = await patchCall(invocation);
      return asked === null ? command.perform!(invocation, ...rest) : patch.perform!(asked, ...rest);
    },
  };
}

/** Whether a command may apply a patch. */
export function usesPatches(text: string): boolean {
  return /\bapply_?patch\b/.test(text);
}

/** The call as the patch tool takes it; null if it is a command. The workspace stays the same wherever the command goes. */
async function patchCall(invocation: Invocation): Promise<Invocation | null> {
  const { cmd, workdir } = invocation.args as CommandArguments;
  // What reads shell text is large: it is loaded for commands that may hold a patch.
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
