import { argumentHint, type Bobbin, mcpPromptCommand } from "@bobbin/client";
import { escapeControls } from "./terminal-output.ts";

/** The lines of `/prompts`: the prompts for a chat's folder and of its thread's MCP servers, then the warnings. */
export async function promptLines(
  bobbin: Pick<Bobbin, "request">,
  { cwd, threadId }: { readonly cwd: string | undefined; readonly threadId: string },
): Promise<readonly string[]> {
  const saved = await bobbin.request("prompts/list", cwd === undefined ? {} : { cwd });
  const served = await bobbin.request("mcpServer/prompt/list", { threadId });
  const prompts = [
    ...saved.data.map(({ name, argumentHint: hint, description, path }) =>
      line(`/prompts:${name}`, hint, description ?? path),
    ),
    ...served.data.map((prompt) => line(mcpPromptCommand(prompt), argumentHint(prompt), prompt.description)),
  ];
  const warnings = [
    ...saved.warnings.map(({ path, message }) => `${path}: ${message}`),
    ...served.warnings.map(({ server, message }) => `${server}: ${message}`),
  ];
  const none = prompts.length === 0 ? ["There are no prompts."] : [];
  return [...prompts, ...none, ...warnings].map(escapeControls);
}

function line(command: string, hint: string | null, description: string | null): string {
  return [
    hint === null ? command : `${command} ${hint}`,
    ...(description === null ? [] : [description]),
  ].join("  ");
}
