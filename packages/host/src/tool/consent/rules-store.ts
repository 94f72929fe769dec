import { dirname } from "node:path";
import type { RulesListResponse } from "@bobbin/protocol";
import type { Files } from "../../platform/platform.ts";
import type { DocumentStore } from "../../store/documents.ts";
import {
  joinRules,
  type NetworkProtocol,
  NO_RULES,
  type PrefixRule,
  type Rules,
} from "./command-and-network-rules.ts";
import {
  type ProjectRules,
  type ProjectRulesFiles,
  type Projects,
  readProjectRules,
  withTrust,
} from "./project-rules.ts";
import { mayBecomeRule } from "./rule-proposal.ts";
import { allowLine, type BadRulesFile, networkLine, readRulesFile } from "./rules-file.ts";

/** The rules in force. */
export interface LoadedRules {
  readonly rules: Rules;
  /** Files with mistakes. Their allow rules are ignored. */
  readonly bad: readonly BadRulesFile[];
  /** The project whose rules were read; null if no folder was named. */
  readonly project: Omit<ProjectRules, "rules" | "bad"> | null;
}

const FOLDER = "rules";
/** The document that accepted rules are appended to. */
const OWN = `${FOLDER}/default`;

export interface RulesPorts {
  /** Used to read the rules of projects. */
  readonly files: Pick<Files, "list" | "readText" | "exists" | "realPath">;
  /** The current trust decisions about projects. */
  projects?(): Projects;
  /** Rules that an administrator requires. Users cannot change them. */
  required?(): readonly PrefixRule[];
}

/**
 * The rules that a host stores: all documents in `rules`. Rules that users accept are appended to one of them,
 * `default`.
 */
export class RulesStore {
  readonly #ports: RulesPorts;
  readonly #documents: DocumentStore;

  constructor(documents: DocumentStore, ports: RulesPorts) {
    this.#documents = documents;
    this.#ports = ports;
  }

  /** The file with the rules that users accepted. */
  get ownFile(): string {
    return this.#fileOf(OWN);
  }

  /** Reads the rules files of the project around a folder. */
  readProject(cwd: string): Promise<ProjectRulesFiles> {
    const own = this.#documents.path(OWN);
    return readProjectRules(this.#ports.files, cwd, own && dirname(own));
  }

  /**
   * Reads the rules. Users and other hosts may change them at any time. `of`: the folder whose project is read, or the
   * rules files of a project that were read before. The trust decision about them is the current one.
   */
  async load(of?: string | ProjectRulesFiles): Promise<LoadedRules> {
    const { projects, required } = this.#ports;
    const found = typeof of === "string" ? await this.readProject(of) : of;
    const project = found === undefined ? null : withTrust(found, projects?.() ?? new Map());
    const read = await Promise.all(
      (await this.#documents.list(FOLDER)).map(async (name) => {
        const file = this.#fileOf(name);
        try {
          return readRulesFile(file, (await this.#documents.read(name))?.text ?? "");
        } catch (cause) {
          return readRulesFile(file, null, (cause as Error).message);
        }
      }),
    );
    return {
      rules: joinRules([
        { ...NO_RULES, prefixes: required?.() ?? [] },
        ...read.map(({ rules }) => rules),
        ...(project === null ? [] : [project.rules]),
      ]),
      bad: [...read.flatMap(({ bad }) => bad ?? []), ...(project?.bad ?? [])],
      project,
    };
  }

  /** Saves a rule that allows commands that begin with these words. Throws if the rule would allow too much. */
  async allow(prefix: readonly string[]): Promise<void> {
    if (!mayBecomeRule(prefix)) throw new Error(`a rule for ${JSON.stringify(prefix)} would allow too much`);
    const line = allowLine(prefix);
    await this.#change((lines) => (lines.includes(line) ? lines : [...lines, line]));
  }

  /** Saves a rule that allows or forbids connections to a network host. */
  async decideHost(host: string, protocol: NetworkProtocol, decision: "allow" | "deny"): Promise<void> {
    const line = networkLine(host, protocol, decision);
    await this.#change((lines) => (lines.includes(line) ? lines : [...lines, line]));
  }

  /** All rules, for clients. */
  async list(cwd?: string): Promise<RulesListResponse> {
    const { rules, bad, project } = await this.load(cwd);
    const own = this.ownFile;
    const document = await this.#documents.read(OWN).catch(() => undefined);
    const lines = (document?.text ?? "").split(/\r?\n/);
    return {
      commands: rules.prefixes.map(({ pattern, decision, justification, origin }) => ({
        pattern: pattern.map((choices) => [...choices]),
        decision,
        justification,
        ...origin,
        revocable:
          origin.file === own && lines[origin.line - 1] === allowLine(pattern.map(([word]) => word!)),
      })),
      hosts: rules.network.map(({ origin, ...rule }) => ({
        ...rule,
        ...origin,
        revocable:
          origin.file === own && hostLines(rule.host, rule.protocol).includes(lines[origin.line - 1]!),
      })),
      badFiles: [...bad],
      project:
        project?.digest == null
          ? null
          : { root: project.root, digest: project.digest, trusted: project.isTrusted },
    };
  }

  /**
   * Removes a rule that `allow` or `decideHost` wrote; returns false if there is none. A network host is written as
   * `PROTOCOL://HOST`.
   */
  async revoke(words: readonly string[]): Promise<boolean> {
    const [, protocol, host] = /^(https?|socks5_tcp|socks5_udp):\/\/([^/]+)\/?$/.exec(words.join(" ")) ?? [];
    const wanted = host === undefined ? [allowLine(words)] : hostLines(host, protocol as NetworkProtocol);
    let found = false;
    await this.#change((lines) => {
      found = lines.some((one) => wanted.includes(one));
      return lines.filter((one) => !wanted.includes(one));
    });
    return found;
  }

  /**
   * Edits the rules that users accepted. If another host has changed them in between, the edit is repeated on the new
   * text.
   */
  async #change(edit: (lines: readonly string[]) => readonly string[]): Promise<void> {
    for (;;) {
      const document = await this.#documents.read(OWN);
      const before = (document?.text ?? "").replace(/\r?\n$/, "");
      const lines = before === "" ? [] : before.split("\n");
      const after = edit(lines);
      if (after.length === lines.length) return;
      const text = after.map((one) => `${one}\n`).join("");
      if (await this.#documents.replace(OWN, text, document?.version)) return;
    }
  }

  /** The origin of a rule, as clients see it. */
  #fileOf(name: string): string {
    return this.#documents.path(name) ?? name;
  }
}

/** The lines that `decideHost` may have written for a network host. */
function hostLines(host: string, protocol: NetworkProtocol): readonly string[] {
  return (["allow", "deny"] as const).map((decision) => networkLine(host, protocol, decision));
}
