import type { HostOfHome } from "@bobbin/protocol";
import { BOBBIN_VERSION } from "../../version.ts";
import type { HandlerContext } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";

/** Lists the hosts of this home: those that listen, and those whose claims show that they have threads loaded. */
export function hostHandlers(context: HandlerContext): MethodHandlers {
  const { registry, platform, startedAt } = context;
  return {
    async "server/hosts/list"(_params, { reply }) {
      const own: HostOfHome = {
        hostId: registry.hostId,
        isThis: true,
        processId: platform.process().id,
        version: BOBBIN_VERSION,
        startedAt,
        threads: [...registry.loaded()].length,
      };
      const [listening, claims] = await Promise.all([context.listeningHosts(), registry.claimsOfOthers()]);
      const hosts = new Map([...listening, own].map((host) => [host.hostId, host]));
      const silent = [...claims].filter(([hostId]) => !hosts.has(hostId));
      reply({
        data: [
          own,
          ...[...hosts.values()].filter(({ isThis }) => !isThis),
          ...silent.map(([hostId, threads]) => ({ ...UNKNOWN, hostId, threads })),
        ],
      });
    },
  };
}

const UNKNOWN = { isThis: false, processId: null, version: null, startedAt: null };
