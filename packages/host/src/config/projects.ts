import { isAbsolute, normalize } from "node:path";
import type { Projects, ProjectTrust } from "../tool/project-rules.ts";
import { ConfigError } from "./config-error.ts";
import { oneOf, subtable, type Table, text } from "./table.ts";

/** `[projects."/path"]`: `trust_level`, and the digest of the rules that were trusted. */
export function readProjects(table: Table): Projects {
  const projects = subtable(table, "projects") ?? {};
  return new Map(
    Object.keys(projects).map((path): [string, ProjectTrust] => {
      if (!isAbsolute(path)) throw new ConfigError(`projects: "${path}" must be an absolute path`);
      const at = `projects."${path}".`;
      const project = subtable(projects, path, "projects.")!;
      const level = oneOf(project, "trust_level", ["trusted", "untrusted"], at) ?? null;
      return [
        normalize(path).replace(/(.)\/$/, "$1"),
        { level, rules: text(project, "trusted_rules", at) ?? null },
      ];
    }),
  );
}
