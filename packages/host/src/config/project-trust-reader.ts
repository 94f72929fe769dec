import { isAbsolute, normalize } from "node:path";
import type { Projects, ProjectTrust } from "../tool/consent/project-rules.ts";
import { ConfigError } from "./bad-config-error.ts";
import { oneOf, subtable, type Table, text, textTable } from "./table-reader.ts";

/** Reads `[projects."/path"]`: `trust_level`, and the digests of the trusted rules and files. */
export function readProjects(table: Table): Projects {
  const projects = subtable(table, "projects") ?? {};
  return new Map(
    Object.keys(projects).map((path): [string, ProjectTrust] => {
      if (!isAbsolute(path)) throw new ConfigError(`projects: "${path}" must be an absolute path`);
      const at = `projects."${path}".`;
      const project = subtable(projects, path, "projects.")!;
      const level = oneOf(project, "trust_level", ["trusted", "untrusted"], at) ?? null;
      const rules = text(project, "trusted_rules", at) ?? null;
      const files = textTable(project, "trusted_files", at);
      const trust = { level, rules, ...(Object.keys(files).length > 0 && { files }) };
      return [normalize(path).replace(/(.)\/$/, "$1"), trust];
    }),
  );
}
