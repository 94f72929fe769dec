import { resolve } from "node:path";
import { homeDirectory } from "../config/home.ts";
import { loadConfig } from "../config/load.ts";
import { nodePlatform } from "../platform/node.ts";
import { createSandbox } from "../sandbox/sandbox.ts";
import { commandActions } from "../tool/consent/command-actions.ts";
import type { Consent } from "../tool/consent/consent.ts";
import { decideConsent } from "../tool/consent/decide.ts";
import { type ParsedCommand, parseCommand } from "../tool/consent/shell.ts";
import { loadRules } from "../tool/rules-store.ts";
import type { CheckOptions } from "./rules.ts";
import { harmless, Output } from "./terminal.ts";

/** Shows what would happen to a command. Resolves with the exit code. */
export async function checkRules(
  text: string,
  options: CheckOptions & { readonly config?: readonly string[] },
): Promise<number> {
  const stdout = new Output(process.stdout);
  const home = homeDirectory();
  const platform = nodePlatform();
  const { files } = platform;
  const { approvalPolicy: policy, sandbox } = await loadConfig(files, home, options.config ?? []);
  const { rules, bad } = await loadRules(files, home);
  const problem = await createSandbox({ platform, home }).problem();
  const workdir = resolve(options.cd ?? ".");
  const command = parseCommand(text);
  const escalate = options.outside ?? false;
  const consent = decideConsent({
    what: { kind: "command", command, escalate, justification: null, prefixRule: null, workdir },
    policy,
    sandbox: sandbox.sandbox,
    roots: [workdir],
    sandboxProblem: problem?.reason ?? null,
    rules,
    grants: [],
  });
  if (options.json) {
    const { words, found, isDangerous, isPlainGit } = command;
    const actions = commandActions(command, workdir);
    const about = { isPlain: words !== null, isDangerous, isPlainGit, commands: words ?? found, actions };
    stdout.line(
      JSON.stringify({ consent, ...about, policy, sandbox: sandbox.sandbox, badFiles: bad }, null, 2),
    );
  } else {
    stdout.write(forPeople(command, consent, stdout));
    stdout.line(
      out(
        stdout,
        `policy ${typeof policy === "string" ? policy : "granular"}, sandbox ${sandbox.sandbox.type}`,
      ),
    );
    for (const { file, line, message } of bad)
      stdout.line(
        `  ${stdout.red(harmless(`${file}:${line}: ${message}`))}\n    → nothing that this file allows counts`,
      );
    stdout.line("");
  }
  await stdout.flushed();
  return consent.kind === "sandboxed" || consent.kind === "unsandboxed" ? 0 : 1;
}

function out(stdout: Output, text: string): string {
  return stdout.dim(`  ${text}`);
}

function forPeople(command: ParsedCommand, consent: Consent, stdout: Output): string {
  const { words, problem } = command;
  const lines = ["", `  ${headline(consent, stdout)}`];
  if (words !== null) lines.push(...words.map((one) => out(stdout, `command: ${harmless(one.join(" "))}`)));
  else lines.push(out(stdout, problem === null ? `not plain: ${NOT_PLAIN}` : `cannot be read: ${problem}`));
  if (consent.kind === "ask" && consent.amendment !== null)
    lines.push(out(stdout, `can be allowed for good: ${harmless(JSON.stringify(consent.amendment))}`));
  return `${lines.join("\n")}\n`;
}

const NOT_PLAIN =
  "the shell would expand, redirect or assign something, so rules can forbid it, and cannot allow it";

function headline(consent: Consent, stdout: Output): string {
  switch (consent.kind) {
    case "sandboxed":
      return `${stdout.green("runs")} in the sandbox`;
    case "unsandboxed":
      return `${stdout.green("runs")} outside of the sandbox, because ${harmless(consent.because)}`;
    case "ask": {
      const reason = consent.reason === null ? "" : `: ${harmless(consent.reason)}`;
      const where = consent.runs === "sandboxed" ? "in the sandbox" : "outside of the sandbox";
      return `${stdout.yellow("asks")}, and then runs ${where}${reason}`;
    }
    case "refuse":
      return `${stdout.red("is refused")}: ${harmless(consent.reason)}`;
  }
}
