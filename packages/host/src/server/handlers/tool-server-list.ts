import type { RapServer } from "@bobbin/protocol";
import { countOf, type OpenAtToolServers } from "../../core/rap/open-calls-and-subscriptions.ts";
import { maySee } from "../authorize.ts";
import { accessOf, type HandlerContext } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";

export function toolServerHandlers({ registry, rap }: HandlerContext): MethodHandlers {
  return {
    async "rap/servers/list"({ threadId }, { connection, reply }) {
      if (threadId == null) {
        const { principal } = connection.meta;
        const seen = [...registry.loaded()].filter(({ owner }) => maySee(principal, owner));
        const servers = await rap.servers(null);
        return reply({ data: servers.map((server) => counted(server, seen)) });
      }
      const actor = await registry.find(threadId, accessOf(connection));
      const servers = await rap.servers(await actor.peek());
      reply({ data: servers.map((server) => counted(server, [actor])) });
    },
  };
}

function counted(
  server: Omit<RapServer, "pendingCalls" | "subscriptions">,
  threads: readonly { readonly outside: OpenAtToolServers }[],
): RapServer {
  const count = (kind: keyof OpenAtToolServers): number =>
    threads.reduce((sum, { outside }) => sum + countOf(outside[kind], server.name), 0);
  return { ...server, pendingCalls: count("calls"), subscriptions: count("subscriptions") };
}
