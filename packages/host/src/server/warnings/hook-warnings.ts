import { basename, dirname } from "node:path";
import type { ConfigSnapshot } from "../../config/layered-config.ts";
import type { ConfiguredHook } from "../../hooks/configured-hooks.ts";
import { trustIn } from "../../tool/consent/project-trust-lookup.ts";
import type { Connection } from "../connection.ts";
import type { HandlerContext } from "../handler-context.ts";

/** Contents of hook files that each client was warned of. */
const sent = new WeakMap<Connection, Set<string>>();

/**
 * Warns a client about hooks of a project that do not run because they are not trusted. Warns once per content of a
 * file.
 */
export async function warnOfHooks(
  context: Pick<HandlerContext, "hooks" | "config" | "platform">,
  connection: Connection,
  { projectHooks }: ConfigSnapshot,
  cwd: string,
): Promise<void> {
  if (projectHooks.length === 0) return;
  const level = await trustIn(context.platform.files, cwd, context.config.projects);
  // No warning for a project that the user has marked as untrusted: that decision includes its hooks.
  if (level === "untrusted") return;
  const found = await context.hooks.withheld(cwd);
  // If a project's config.toml is ignored as a whole, `warnOfProject` has already warned about it.
  const withheld =
    level === null ? found.filter(({ sourcePath }) => basename(sourcePath) !== "config.toml") : found;
  const known = sent.get(connection) ?? new Set();
  sent.set(connection, known);
  for (const path of new Set(withheld.map(({ sourcePath }) => sourcePath))) {
    const own = withheld.filter(({ sourcePath }) => sourcePath === path);
    const content = [path, level, ...own.map(({ digest }) => digest)].join("\0");
    if (known.has(content)) continue;
    known.add(content);
    connection.notify("configWarning", { summary: warningText(own, level, path), details: null, path });
  }
}

function warningText(hooks: readonly ConfiguredHook[], level: "trusted" | null, path: string): string {
  const many = hooks.length === 1 ? "1 hook does" : `${hooks.length} hooks do`;
  const why = level === null ? "its project is not trusted" : "nobody has trusted it as it is now";
  // The file is in `.codex` or `.bobbin` of the project's folder.
  const folder = dirname(dirname(path));
  return `${path}: ${many} not run, because ${why}. To see hooks, run: bobbin hooks list -C ${folder}. To trust the project with them, run: bobbin trust ${folder}`;
}
