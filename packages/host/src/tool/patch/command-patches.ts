import { resolve } from "node:path";
import type { Invocation, Tool } from "../tool.ts";
import { patchInCommand } from "./patch-in-command.ts";

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
    begin(invocation) {
      const asked = patchCall(invocation);
      return asked === null ? command.begin(invocation) : patch.begin(asked);
    },
    heard(invocation, question, answer) {
      const asked = patchCall(invocation);
      return asked === null
        ? command.heard!(invocation, question, answer)
        : patch.heard!(asked, question, answer);
    },
    perform(invocation, ...rest) {
      const asked = patchCall(invocation);
      return asked === null ? command.perform!(invocation, ...rest) : patch.perform!(asked, ...rest);
    },
  };
}

/** The call as the patch tool takes it; null if it is a command. The workspace stays the same wherever the command goes. */
function patchCall(invocation: Invocation): Invocation | null {
  const { cmd, workdir } = invocation.args as CommandArguments;
  const found = patchInCommand(cmd);
  if (found === null) return null;
  const { thread } = invocation;
  const { cwd, roots = [cwd] } = thread.settings;
  const from = resolve(cwd, workdir ?? "", found.workdir ?? "");
  const settings = { ...thread.settings, cwd: from, roots };
  return { ...invocation, args: { input: found.patch }, thread: { ...thread, settings } };
}
