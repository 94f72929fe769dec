import type { ThreadState } from "../../core/state.ts";
import type { ByteStream } from "../../platform/platform.ts";
import type { HostRules } from "../../sandbox/network/hosts.ts";
import type { NetworkQuestions } from "./network-questions.ts";
import type { ExecPorts } from "./ports.ts";

/** Refusals that the model is shown with the output. */
const MAX_SHOWN = 8;

export interface ServedNetwork {
  /** Drops all connections; resolves to what was refused, in words, if something was. */
  close(): string | undefined;
}

/** Serves the network of a command that has it by host. */
export async function serveNetwork(
  ports: ExecPorts,
  questions: NetworkQuestions,
  { thread, itemId, hosts }: { thread: ThreadState; itemId: string; hosts: HostRules },
  channel: ByteStream,
): Promise<ServedNetwork> {
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
    close() {
      network.close();
      questions.forget(threadId, itemId);
      return refused.size === 0 ? undefined : [...refused].join("\n");
    },
  };
}
