import type { AskForApproval } from "@bobbin/protocol";
import type { Config } from "../config/config.ts";
import { logFor } from "../observe/log.ts";
import { Supervisor } from "../observe/supervise.ts";
import type { ByteStream, Platform } from "../platform/platform.ts";
import { CommandNetwork } from "../sandbox/network/command-network.ts";
import { accessTo, type HostRules, isListed } from "../sandbox/network/hosts.ts";
import type { Target } from "../sandbox/network/request-head.ts";
import type { Consent } from "../tool/consent/consent.ts";
import { decideConsent } from "../tool/consent/decide.ts";
import { hasRuleFor, RULE_PROTOCOLS, type Rules } from "../tool/consent/rules.ts";
import { RulesStore } from "../tool/rules-store.ts";
import { harmless, Output } from "./terminal.ts";

interface Surroundings {
  readonly home: string;
  readonly platform: Platform;
  readonly config: Config;
  readonly cwd: string;
  readonly hosts: HostRules;
}

/** Serves the network of a command without a thread, as for a thread that asks nobody. */
export function serveHosts(
  { home, platform, config, cwd, hosts }: Surroundings,
  channel: ByteStream,
): CommandNetwork {
  const store = new RulesStore(home, { ...platform, projects: () => config.projects });
  const stderr = new Output(process.stderr);
  const supervisor = new Supervisor(logFor(process.env, "warn", (text) => stderr.write(text)));
  return new CommandNetwork(
    {
      platform,
      supervisor,
      socks: hosts.socks,
      async judge(target) {
        const { rules } = await store.load(cwd);
        const consent = consentToHost(target, hosts, rules, "never");
        return consent.kind === "refuse" ? { kind: "refuse", words: consent.reason } : { kind: "allow" };
      },
      isListed: async (host) => isListed(hosts, host) || hasRuleFor((await store.load(cwd)).rules, host),
      refused: (_target, words) => stderr.line(`bobbin: ${harmless(words)}`),
    },
    channel,
  );
}

/** Whether a command without a thread may connect to a host. */
export function consentToHost(
  { host, port, protocol }: Target,
  hosts: HostRules,
  rules: Rules,
  policy: AskForApproval,
): Consent {
  return decideConsent({
    what: { kind: "network", host, port, protocol: RULE_PROTOCOLS[protocol], listed: accessTo(hosts, host) },
    policy,
    sandbox: { type: "readOnly", networkAccess: false },
    roots: [],
    sandboxProblem: null,
    rules,
    grants: [],
  });
}
