import { resolve } from "node:path";
import type { Params, Result, SandboxMode, SandboxPolicy, Thread } from "@bobbin/protocol";
import type { ThreadFacts, ThreadSettings } from "../../core/life/records.ts";
import { threadView } from "../../core/life/thread-view.ts";
import { PEER_VERSION } from "../../version.ts";
import { maySee, ownerOf } from "../authorize.ts";
import type { Handlers } from "../call.ts";
import type { HandlerContext } from "./context.ts";
import { page } from "./page.ts";

export function threadHandlers(context: HandlerContext): Handlers {
  const { registry, platform } = context;
  return {
    async "thread/start"(params, { connection, reply }) {
      const facts: ThreadFacts = {
        id: platform.ids.uuid(),
        owner: ownerOf(connection.meta.principal),
        ephemeral: params.ephemeral ?? false,
        // What clients of this transport are listed under by default, whoever they are.
        source: "vscode",
        originator: connection.client?.info.name || null,
        cliVersion: PEER_VERSION,
        serviceName: params.serviceName ?? null,
        threadSource: params.threadSource ?? null,
        gitInfo: null,
      };
      const actor = await registry.start(facts, settingsOf(params, context));
      actor.subscribe(connection);
      const thread = threadView(actor.state, null);
      reply(started(thread, actor.state.settings));
      registry.announce(actor, "thread/started", { thread });
    },

    "thread/loaded/list"({ cursor, limit }, { connection, reply }) {
      const ids: string[] = [];
      for (const actor of registry.loaded) {
        if (maySee(connection.meta.principal, actor.state.facts.owner)) ids.push(actor.id);
      }
      reply(page(ids, cursor, limit));
    },
  };
}

function settingsOf(params: Params<"thread/start">, context: HandlerContext): ThreadSettings {
  const { config, cwd, providers } = context;
  const modelProvider = params.modelProvider ?? config.modelProvider;
  providers.get(modelProvider);
  return {
    model: params.model ?? config.model,
    modelProvider,
    cwd: resolve(cwd, params.cwd ?? ""),
    approvalPolicy: params.approvalPolicy ?? config.approvalPolicy,
    approvalsReviewer: params.approvalsReviewer ?? "user",
    sandbox: sandboxPolicy(params.sandbox ?? config.sandboxMode),
    effort: config.effort,
    summary: null,
    personality: params.personality ?? config.personality,
    baseInstructions: params.baseInstructions ?? null,
    developerInstructions: params.developerInstructions ?? null,
  };
}

function sandboxPolicy(mode: SandboxMode): SandboxPolicy {
  switch (mode) {
    case "read-only":
      return { type: "readOnly", networkAccess: false };
    case "workspace-write":
      return {
        type: "workspaceWrite",
        writableRoots: [],
        networkAccess: false,
        excludeTmpdirEnvVar: false,
        excludeSlashTmp: false,
      };
    case "danger-full-access":
      return { type: "dangerFullAccess" };
  }
}

function started(thread: Thread, settings: ThreadSettings): Result<"thread/start"> {
  return {
    thread,
    model: settings.model,
    modelProvider: settings.modelProvider,
    serviceTier: null,
    disabledPluginIds: [],
    cwd: settings.cwd,
    runtimeWorkspaceRoots: [settings.cwd],
    instructionSources: [],
    approvalPolicy: settings.approvalPolicy,
    approvalsReviewer: settings.approvalsReviewer,
    sandbox: settings.sandbox,
    activePermissionProfile: null,
    reasoningEffort: settings.effort,
    multiAgentMode: "explicitRequestOnly",
  };
}
