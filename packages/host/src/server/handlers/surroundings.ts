import { dirname, join } from "node:path";
import type { GitInfo } from "@bobbin/protocol";
import type { ProjectDoc } from "../../core/life/records.ts";
import { fault } from "../../errors.ts";
import { trustIn } from "../../tool/project-trust.ts";
import type { HandlerContext } from "./context.ts";

/** What a load binds: what is around the folder, and the instructions that are configured for all threads. */
export async function surroundings(
  cwd: string,
  /** Of the thread: it sees no more than they may. */
  owner: string,
  context: HandlerContext,
): Promise<{ readonly gitInfo: GitInfo | null; readonly docs: readonly ProjectDoc[] }> {
  const { around, config } = context.reachLookup.of(owner);
  const { gitInfo, docs: found } = await around.at(cwd);
  const trust = await trustIn(context.platform.files, cwd, config.projects);
  // What a project that is not trusted says to models is not passed on; what the home says is.
  const docs = trust === "untrusted" ? found.filter(({ path }) => dirname(path) === context.home) : found;
  const { developerInstructions: text, instructionsFile } = context.config;
  if (text === null && instructionsFile === null) return { gitInfo, docs };
  const path = join(context.home, "config.toml");
  const configured: ProjectDoc[] = text === null ? [] : [{ path, text, as: "developer" }];
  if (instructionsFile !== null) configured.push(await baseDoc(instructionsFile, context));
  return { gitInfo, docs: [...configured, ...docs] };
}

async function baseDoc(path: string, { platform }: HandlerContext): Promise<ProjectDoc> {
  const text = (await platform.files.readText(path).catch(() => undefined))?.trim();
  if (text === undefined) throw fault("badConfig", `failed to read model instructions file ${path}`);
  if (text === "") throw fault("badConfig", `model instructions file is empty: ${path}`);
  return { path, text, as: "base" };
}
