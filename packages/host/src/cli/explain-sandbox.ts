import type { Access, NetworkAccess } from "../sandbox/access.ts";
import type { ConfinedCommand, SandboxProblem } from "../sandbox/sandbox.ts";
import { escapeControls, type Output } from "./terminal-output.ts";

const NETWORK: Readonly<Record<NetworkAccess, string>> = {
  none: "none: no Internet, no Unix sockets",
  byHost: "the hosts that are allowed, through a proxy; no Unix sockets",
  all: "Internet addresses, this machine's own included; no Unix sockets",
};

const NAMES = {
  readOnly: "read-only",
  workspaceWrite: "workspace-write",
  dangerFullAccess: "danger-full-access",
  externalSandbox: "externalSandbox",
} as const;

/** Describes what a confined command may read, write and connect to. */
export function explainSandbox(
  { policy, profile, program }: ConfinedCommand,
  access: Access | null,
  problem: SandboxProblem | null,
  out: Pick<Output, "bold" | "yellow" | "dim">,
): string {
  const lines = [
    "",
    `  Sandbox: ${out.bold(profile ?? NAMES[policy.type])}, in ${escapeControls(program.cwd)}`,
    "",
  ];
  if (access === null) lines.push("  The command is not confined: it may do all that you may.");
  else {
    lines.push(...section("may write", access.writable, "nothing"));
    if (access.protected.length > 0) lines.push(...section("but not", access.protected));
    lines.push(...section("may read", access.readOnly ?? ["everything that you may read"]));
    if (access.hidden.length > 0)
      lines.push(
        ...section(
          "but not",
          access.hidden.map(({ path }) => path),
        ),
      );
    if (access.readable.length > 0) lines.push(...section("except for", access.readable));
    lines.push(
      ...section("network", [
        NETWORK[access.network],
        ...(access.hosts?.domains ?? []).map((rule) => `${rule.pattern}: ${rule.access}`),
      ]),
    );
  }
  if (problem !== null && access !== null)
    lines.push(
      "",
      `  ${out.yellow("!")} It would not be run, because ${escapeControls(problem.reason)}.`,
      `    ${out.dim(`→ ${escapeControls(problem.advice)}`)}`,
    );
  return `${lines.join("\n")}\n\n`;
}

function section(title: string, entries: readonly string[], none = ""): readonly string[] {
  const shown = entries.length === 0 ? [none] : entries;
  return shown.map((entry, at) => `  ${(at === 0 ? title : "").padEnd(12)}${escapeControls(entry)}`);
}
