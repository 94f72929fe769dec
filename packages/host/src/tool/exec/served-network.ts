import type { ThreadState } from "../../core/state.ts";
import type { ByteStream } from "../../platform/platform.ts";
import type { HostRules } from "../../sandbox/network/hosts.ts";
import type { NetworkQuestions } from "./network-questions.ts";
import type { ExecPorts } from "./ports.ts";
import type { ServedChannel } from "./running-command.ts";

/** Refusals that the model is shown with the output. */
const MAX_SHOWN = 8;

/** What programs say that found no network. */
const NO_NETWORK =
  /could ?n[o']t resolve host|name resolution|Name or service not known|Network is unreachable|ENETUNREACH|EAI_AGAIN|ENOTFOUND/i;
const IGNORES_PROXY =
  "The network is reached through the proxy that HTTP_PROXY and HTTPS_PROXY name, and in no other way. A program that does not use it has no network.";

/** Serves the network of a command that has it by host. */
export async function serveNetwork(
  ports: ExecPorts,
  questions: NetworkQuestions,
  { thread, itemId, hosts }: { thread: ThreadState; itemId: string; hosts: HostRules },
  channel: ByteStream,
): Promise<ServedChannel> {
  const { CommandNetwork } = await import("../../sandbox/network/command-network.ts");
  const threadId = thread.facts.id;
  const refused = new Set<string>();
  const network = new CommandNetwork(
    {
      platform: ports.platform,
      supervisor: ports.supervisor,
      socks: hosts.socks,
      judge: (target) => questions.judge({ threadId, itemId, hosts }, target),
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
      questions.forget(threadId, itemId);
      if (refused.size > 0) return [...refused].join("\n");
      return NO_NETWORK.test(output) ? IGNORES_PROXY : undefined;
    },
  };
}
