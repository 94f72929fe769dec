import { isAbsolute, join } from "node:path";
import type { Thread } from "@bobbin/protocol";
import { threadView } from "../../core/life/thread-view.ts";
import { Fault, fault } from "../../errors.ts";
import { ownerOf } from "../authorize.ts";
import { accessOf, type HandlerContext, reachOf } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { threadAt } from "../params/thread-path.ts";

/** Handlers of methods that older clients use, and of the Windows sandbox, which this host does not have. */
export function legacyHandlers(context: HandlerContext): MethodHandlers {
  const { registry, home, platform, turnFiles, supervisor } = context;
  return {
    async getConversationSummary({ conversationId, rolloutPath }, { connection, reply }) {
      if (conversationId == null && rolloutPath == null)
        throw fault("invalidParams", "conversationId", "either this or rolloutPath is required");
      const threadId = conversationId ?? (await threadAt(rolloutPath!, connection, context));
      const reading = registry.read(threadId, accessOf(connection), async ({ place }, state) => {
        const { createdAt, updatedAt } = state;
        reply({
          summary: {
            ...summaryOf(threadView(state, place)),
            timestamp: iso(createdAt),
            updatedAt: iso(updatedAt),
          },
        });
      });
      await reading.catch((cause: unknown) => {
        if (cause instanceof Fault && cause.code === "threadNotLoaded") throw fault("noRollout", threadId);
        throw cause;
      });
    },

    async gitDiffToRemote({ cwd }, { connection, reply }) {
      if (!isAbsolute(cwd)) throw fault("invalidParams", "cwd", "it must be an absolute path");
      const reach = reachOf(context, connection);
      await reach.checkPath("cwd", cwd);
      const store = join(home, "tmp", platform.ids.uuid());
      try {
        const owner = ownerOf(connection.meta.principal);
        reply(await turnFiles.diffToRemote(owner, cwd, store, new AbortController().signal));
      } catch (cause) {
        if (cause instanceof Fault) throw cause;
        throw fault("noRemoteDiff", cwd, (cause as Error).message);
      } finally {
        supervisor.take("removing what a diff left", platform.files.remove(store));
      }
    },

    "windowsSandbox/setupStart"({ mode }, { connection, reply }) {
      reply({ started: true });
      const kind = mode === "elevated" ? "elevated" : "legacy";
      const error = `${kind} Windows sandbox setup is only supported on Windows`;
      connection.notify("windowsSandbox/setupCompleted", { mode, success: false, error });
    },

    "windowsSandbox/readiness"(_params, { reply }) {
      reply({ status: "notConfigured" });
    },
  };
}

function summaryOf({ id, path, preview, modelProvider, cwd, cliVersion, source, gitInfo }: Thread) {
  return {
    conversationId: id,
    path: path ?? "",
    preview,
    modelProvider,
    cwd,
    cliVersion,
    source,
    gitInfo: gitInfo && { sha: gitInfo.sha, branch: gitInfo.branch, origin_url: gitInfo.originUrl },
  };
}

function iso(ms: number): string {
  // oxlint-disable-next-line no-restricted-globals -- a conversion, not the clock
  return new Date(ms).toISOString();
}
