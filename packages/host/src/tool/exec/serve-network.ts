import type { ThreadState } from "../../core/state.ts";
import type { ByteStream } from "../../platform/platform.ts";
import type { HostRules } from "../../sandbox/network/host-rules.ts";
import type { ExecPorts } from "./exec-dependencies.ts";
import type { NetworkApprovals } from "./network-approvals.ts";
import type { ServedChannel } from "./running-command.ts";

/** Limit on the refused connections that the model sees with the output. */
const MAX_SHOWN = 8;

/** Matches messages of programs that found no network. */
const NO_NETWORK =
  /could ?n[o']t resolve host|name resolution|Name or service not known|Network is unreachable|ENETUNREACH|EAI_AGAIN|ENOTFOUND/i;
const IGNORES_PROXY =
  "The network is reached through the proxy that HTTP_PROXY and HTTPS_PROXY name, and in no other way. A program that does not use it has no network.";

/** Runs the proxy of a command whose network access is decided per network host. */
export async function serveNetwork(
  ports: ExecPorts,
  questions: NetworkApprovals,
  { thread, itemId, hosts }: { thread: ThreadState; itemId: string; hosts: HostRules },
  channel: ByteStream,
): Promise<ServedChannel> {
  const { CommandNetwork } = await import("../../sandbox/network/command-network.ts");
  const command = { threadId: thread.facts.id, itemId, hosts };
  const refused = new Set<string>();
  const network = new CommandNetwork(
    {
      platform: ports.platform,
      supervisor: ports.supervisor,
      socks: hosts.socks,
      judge: (target) => questions.judge(command, target),
      isListed: (host) => ports.isListedHost(thread, hosts, host),
      refused(_target, words) {
        if (refused.size < MAX_SHOWN) refused.add(words);
      },
    },
    channel,
  );
  return {
    close(output) {
      network.close();
      questions.forget(command);
      if (refused.size > 0) return [...refused].join("\n");
      return NO_NETWORK.test(output) ? IGNORES_PROXY : undefined;
    },
  };
}
