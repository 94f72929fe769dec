import { join } from "node:path";
import type { RulesListResponse } from "@bobbin/protocol";
import type { Files, Liveness } from "../platform/platform.ts";
import { mayBecomeRule } from "./consent/amendment.ts";
import { joinRules, type NetworkProtocol, type Rules } from "./consent/rules.ts";
import { allowLine, type BadRulesFile, networkLine, readRulesFile } from "./consent/rules-file.ts";
import { type ProjectRules, type Projects, readProjectRules } from "./project-rules.ts";

export interface LoadedRules {
  readonly rules: Rules;
  /** Files that could not be read. Nothing that they allow counts. */
  readonly bad: readonly BadRulesFile[];
  /** The project whose rules were looked at, if a folder was named. */
  readonly project: Omit<ProjectRules, "rules" | "bad"> | null;
}

const OWN_FILE = "default.rules";

export interface RulesPorts {
  readonly files: Pick<Files, "list" | "readText" | "replaceText" | "exists" | "realPath">;
  readonly liveness: Pick<Liveness, "exclusively">;
  /** Which projects people trust, as it is now. */
  projects?(): Projects;
}

/** The rules for commands in the home: all files `rules/*.rules`. What people allow for good goes to `default.rules`. */
export class RulesStore {
  readonly #ports: RulesPorts;
  readonly #folder: string;
  readonly #lock: string;

  constructor(home: string, ports: RulesPorts) {
    this.#ports = ports;
    this.#folder = join(home, "rules");
    this.#lock = join(home, "live", "rules.lock");
  }

  /** The rules as they are now: people and other hosts change them. `cwd`: with those of the project around it. */
  async load(cwd?: string): Promise<LoadedRules> {
    const { files, projects } = this.#ports;
    const project =
      cwd === undefined ? null : await readProjectRules(files, cwd, projects?.() ?? new Map(), this.#folder);
    const entries = await files.list(this.#folder);
    const names = entries.filter(({ name, folder }) => !folder && name.endsWith(".rules"));
    const read = await Promise.all(
      names.map(async ({ name }) => {
        const path = join(this.#folder, name);
        try {
          return readRulesFile(path, (await files.readText(path)) ?? "");
        } catch (cause) {
          return readRulesFile(path, null, (cause as Error).message);
        }
      }),
    );
    return {
      rules: joinRules([...read.map(({ rules }) => rules), ...(project === null ? [] : [project.rules])]),
      bad: [...read.flatMap(({ bad }) => bad ?? []), ...(project?.bad ?? [])],
      project,
    };
  }

  /** Allows commands that begin with these words, for good. Throws if such a rule would allow too much. */
  async allow(prefix: readonly string[]): Promise<void> {
    if (!mayBecomeRule(prefix)) throw new Error(`a rule for ${JSON.stringify(prefix)} would allow too much`);
    const line = allowLine(prefix);
    await this.#change((lines) => (lines.includes(line) ? lines : [...lines, line]));
  }

  /** Decides about connections to a host, for good. */
  async decideHost(host: string, protocol: NetworkProtocol, decision: "allow" | "deny"): Promise<void> {
    const line = networkLine(host, protocol, decision);
    await this.#change((lines) => (lines.includes(line) ? lines : [...lines, line]));
  }

  /** All rules as people see them. */
  async list(cwd?: string): Promise<RulesListResponse> {
    const { rules, bad, project } = await this.load(cwd);
    const own = join(this.#folder, OWN_FILE);
    const lines = ((await this.#ports.files.readText(own).catch(() => "")) ?? "").split(/\r?\n/);
    return {
      commands: rules.prefixes.map(({ pattern, decision, justification, origin }) => ({
        pattern: pattern.map((choices) => [...choices]),
        decision,
        justification,
        ...origin,
        revocable:
          origin.file === own && lines[origin.line - 1] === allowLine(pattern.map(([word]) => word!)),
      })),
      hosts: rules.network.map(({ origin, ...rule }) => ({ ...rule, ...origin })),
      badFiles: [...bad],
      project:
        project?.digest == null
          ? null
          : { root: project.root, digest: project.digest, trusted: project.isTrusted },
    };
  }

  /** Takes back what `allow` or `decideHost` wrote; false if there is no such line. A host is `PROTOCOL://HOST`. */
  async revoke(words: readonly string[]): Promise<boolean> {
    const [, protocol, host] = /^(https?|socks5_tcp):\/\/([^/]+)\/?$/.exec(words.join(" ")) ?? [];
    const wanted =
      host === undefined
        ? [allowLine(words)]
        : (["allow", "deny"] as const).map((one) => networkLine(host, protocol as NetworkProtocol, one));
    let found = false;
    await this.#change((lines) => {
      found = lines.some((one) => wanted.includes(one));
      return lines.filter((one) => !wanted.includes(one));
    });
    return found;
  }

  /** Other hosts change the file, too; a crash leaves the old one or the new one. */
  async #change(edit: (lines: readonly string[]) => readonly string[]): Promise<void> {
    const { files, liveness } = this.#ports;
    const path = join(this.#folder, OWN_FILE);
    await liveness.exclusively(this.#lock, async () => {
      const text = (await files.readText(path)) ?? "";
      const before = text.replace(/\r?\n$/, "");
      const lines = before === "" ? [] : before.split("\n");
      const after = edit(lines);
      if (after.length !== lines.length)
        await files.replaceText(path, after.map((one) => `${one}\n`).join(""));
    });
  }
}
