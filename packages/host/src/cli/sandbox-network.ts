import type { AskForApproval } from "@bobbin/protocol";
import type { Config } from "../config/config.ts";
import { logFor } from "../observe/log.ts";
import { Supervisor } from "../observe/supervise.ts";
import type { ByteStream, Platform } from "../platform/platform.ts";
import { CommandNetwork } from "../sandbox/network/command-network.ts";
import { accessTo, type HostRules, isListed } from "../sandbox/network/host-rules.ts";
import type { Target } from "../sandbox/network/proxy-request.ts";
import { isHostAllowed, RULE_PROTOCOLS, type Rules } from "../tool/consent/command-and-network-rules.ts";
import type { Consent } from "../tool/consent/consent.ts";
import { decideConsent } from "../tool/consent/decide-consent.ts";
import { openRulesStore } from "./open-rules-store.ts";
import { escapeControls, Output } from "./terminal-output.ts";

interface NetworkParts {
  readonly home: string;
  readonly platform: Platform;
  readonly config: Config;
  readonly cwd: string;
  readonly hosts: HostRules;
}

/** Proxies the network connections of `bobbin sandbox`. Only rules decide what is allowed; the user is never asked. */
export function serveSandboxNetwork(
  { home, platform, config, cwd, hosts }: NetworkParts,
  channel: ByteStream,
): CommandNetwork {
  const store = openRulesStore(home, platform, config.projects);
  // Read before the command starts, which may be able to change them.
  const files = store.readProject(cwd);
  files.catch(() => {});
  const stderr = new Output(process.stderr);
  const supervisor = new Supervisor(logFor(process.env, "warn", (text) => stderr.write(text)));
  return new CommandNetwork(
    {
      platform,
      supervisor,
      socks: hosts.socks,
      async judge(target) {
        const { rules, project } = await store.load(await files);
        const consent = consentToHost(target, hosts, rules, "never", project?.problem ?? null);
        return consent.kind === "refuse" ? { kind: "refuse", words: consent.reason } : { kind: "allow" };
      },
      isListed: async (host) =>
        isListed(hosts, host) || isHostAllowed((await store.load(await files)).rules, host),
      refused: (_target, words) => stderr.line(`bobbin: ${escapeControls(words)}`),
    },
    channel,
  );
}

/** Decides whether a command that belongs to no thread may connect to a network host. */
export function consentToHost(
  { host, port, protocol }: Target,
  hosts: HostRules,
  rules: Rules,
  policy: AskForApproval,
  rulesProblem: string | null,
): Consent {
  return decideConsent({
    what: { kind: "network", host, port, protocol: RULE_PROTOCOLS[protocol], listed: accessTo(hosts, host) },
    policy,
    sandbox: { type: "readOnly", networkAccess: false },
    roots: [],
    sandboxProblem: null,
    rules,
    rulesProblem,
    grants: [],
  });
}
