import type { ProjectRules } from "./project-rules.ts";
import { projectKey } from "./project-trust-lookup.ts";

/** Limit on the remembered threads. Beyond it, all are forgotten, and threads may get the warning again. */
const MAX_THREADS = 10_000;

/**
 * Warns a thread's subscribers about project rules that are ignored because they are not trusted. Warns once per
 * content of the rules.
 */
export class WithheldRuleWarnings {
  /** Sends a warning to a thread's subscribers; returns false if there are none. */
  readonly #warn: (threadId: string, message: string) => boolean;
  readonly #warned = new Map<string, string>();

  constructor(warn: (threadId: string, message: string) => boolean) {
    this.#warn = warn;
  }

  warn(threadId: string, project: Omit<ProjectRules, "rules" | "bad">): void {
    const { digest, level, isWithheld } = project;
    // No warning for an untrusted project, because the user has decided about it.
    if (!isWithheld || digest === null || level === "untrusted") return;
    if (this.#warned.get(threadId) === digest || !this.#warn(threadId, withheldRules(project))) return;
    if (this.#warned.size >= MAX_THREADS) this.#warned.clear();
    this.#warned.set(threadId, digest);
  }
}

function withheldRules({ root, digest, level }: Omit<ProjectRules, "rules" | "bad">): string {
  const why = level === "trusted" ? "are not those that were trusted" : "are not trusted";
  return `The rules of ${root} ${why}: what they allow does not count. To trust them as they are now, run \`bobbin rules trust ${root}\`, or set ${projectKey(root)}.trusted_rules to ${JSON.stringify(digest)} and its trust_level to "trusted" in config.toml.`;
}
