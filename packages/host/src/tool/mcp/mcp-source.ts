import type { Commit } from "../../core/records.ts";
import type { ThreadState } from "../../core/state.ts";
import type { ToolCall } from "../../core/turn/records.ts";
import { TOOL_SEARCH } from "../../model/tool-search.ts";
import type { Consent } from "../consent/consent.ts";
import { externalToolConsent } from "../consent/external-tool-consent.ts";
import type { SearchableTool } from "../search/tool-search.ts";
import type { Tool } from "../tool.ts";
import type { McpCall } from "./call-item.ts";
import { ClientInitiatedRequests } from "./client-initiated-requests.ts";
import type { McpServers, ThreadServer } from "./mcp-interface.ts";
import type { McpApprovalMode } from "./mcp-server-settings.ts";
import { type ModelCallPorts, ModelToolCalls } from "./model-tool-calls.ts";
import { resourceTools } from "./resource-tools.ts";
import { ToolSetCache } from "./shared-tool-sets.ts";
import { modelNames } from "./tool-names.ts";
import { type UserQuestionPorts, UserQuestions } from "./user-questions.ts";

export interface McpSourcePorts extends Omit<ModelCallPorts, "questions" | "platform">, UserQuestionPorts {
  readonly platform: ModelCallPorts["platform"] & UserQuestionPorts["platform"];
  readonly servers: McpServers;
  /** Whether the thread's user may change the configuration of a server. */
  mayAllowForGood(thread: ThreadState, server: ThreadServer): boolean;
  /**
   * Writes to the configuration that a tool needs no approval. If the write fails, reports the failure and resolves to
   * false.
   */
  allowForGood(server: string, tool: string): Promise<boolean>;
  /** With more tools than this, models search for tools instead of getting a list of all. */
  searchAbove(): number;
}

/** The MCP tools of threads: listing, approval, calls and questions. */
export class McpSource {
  readonly questions: UserQuestions;
  readonly direct: ClientInitiatedRequests;
  readonly #ports: McpSourcePorts;
  readonly #calls: ModelToolCalls;
  readonly #toolSets: ToolSetCache;
  readonly #resources: readonly Tool[];

  constructor(ports: McpSourcePorts) {
    const { platform, servers } = ports;
    this.#ports = ports;
    this.questions = new UserQuestions(ports);
    this.#calls = new ModelToolCalls({ ...ports, questions: this.questions });
    this.#toolSets = new ToolSetCache({
      consent: (call) => this.#consent(call),
      allowForGood: ({ server, tool }) => ports.allowForGood(server, tool.name),
      perform: (call, signal) => this.#calls.perform(call, signal),
    });
    const { ids, timers } = platform;
    this.direct = new ClientInitiatedRequests({ ids, timers, servers, questions: this.questions });
    this.#resources = resourceTools({ clock: platform.clock, serversOf: (thread) => servers.of(thread) });
  }

  tools(thread: ThreadState): readonly Tool[] {
    const servers = this.#ports.servers.of(thread);
    if (servers.length === 0) return [];
    const { tools } = this.#toolSets.of(servers, this.#ports.searchAbove());
    return servers.some(({ hasResources }) => hasResources) ? [...this.#resources, ...tools] : tools;
  }

  /** The tools that models have to search for. */
  searched(thread: ThreadState): readonly SearchableTool[] {
    const servers = this.#ports.servers.of(thread);
    return servers.length === 0 ? [] : this.#toolSets.of(servers, this.#ports.searchAbove()).searched;
  }

  /**
   * Resolves when the server that a call names has listed its tools (for a search: all servers). Undefined if there
   * is nothing to wait for.
   */
  listed(thread: ThreadState, { name, namespace }: ToolCall): Promise<void> | undefined {
    const servers = this.#ports.servers.of(thread);
    if (namespace === null) {
      const waits = name === TOOL_SEARCH ? servers.flatMap((server) => server.listed() ?? []) : [];
      return waits.length === 0 ? undefined : Promise.all(waits).then(() => {});
    }
    const at = modelNames(servers).findIndex((names) => names.namespace === namespace);
    return servers[at]?.listed();
  }

  committed(commit: Commit): void {
    this.questions.committed(commit);
  }

  #consent({ server: name, tool, invocation }: McpCall): Consent | undefined {
    const { thread } = invocation;
    const server = this.#calls.serverOf(thread, name);
    if (server === undefined) return undefined;
    return externalToolConsent(thread, {
      kind: "mcp",
      server: name,
      tool: tool.name,
      mode: modeOf(server, tool.name),
      annotations: tool.annotations ?? {},
      forGood: this.#ports.mayAllowForGood(thread, server),
    });
  }
}

function modeOf({ settings }: ThreadServer, tool: string): McpApprovalMode {
  const { approvalModes, defaultApprovalMode } = settings;
  return (
    (Object.hasOwn(approvalModes, tool) ? approvalModes[tool] : undefined) ?? defaultApprovalMode ?? "auto"
  );
}
