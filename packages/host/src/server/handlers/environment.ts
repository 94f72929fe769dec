import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { fault } from "../../errors.ts";
import { type HandlerContext, reachOf } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";

/** The only environment: this machine. */
const LOCAL = "local";

const MAX_SHOWN = 100;

/** Handlers that describe the environment of threads. */
export function environmentHandlers(context: HandlerContext): MethodHandlers {
  return {
    "environment/add"({ environmentId }) {
      throw fault("onlyLocalEnvironment", shown(environmentId));
    },

    "environment/info"({ environmentId }, { connection, reply }) {
      if (environmentId !== LOCAL) throw fault("environmentNotFound", shown(environmentId));
      const { shell } = context.exec;
      const { href } = pathToFileURL(reachOf(context, connection).cwd);
      reply({ shell: { name: basename(shell), path: shell }, cwd: href });
    },

    "environment/status"({ environmentId }, { reply }) {
      if (environmentId === LOCAL) return reply({ status: "ready" });
      reply({ status: "unknown", error: fault("environmentNotFound", shown(environmentId)).message });
    },
  };
}

/** The name of an environment, as errors show it. */
function shown(environmentId: string): string {
  return environmentId.slice(0, MAX_SHOWN);
}
