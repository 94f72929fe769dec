import type { Help } from "../../core/children/helper-calls.ts";
import type { OpenedHelper } from "../../core/children/helper-thread-state.ts";
import type { ThreadFacts } from "../../core/life/records.ts";
import type { ThreadState } from "../../core/state.ts";
import type { Ids } from "../../platform/platform.ts";
import type { Invocation, Step, Tool } from "../tool.ts";
import type { AgentSettings, Roles } from "./helper-settings.ts";

/** The namespace of these tools, as models see it. */
export const HELPER_NAMESPACE = "multi_agent_v1";

/** The parts of the host that the helper tools need. */
export interface HelperToolPorts {
  readonly ids: Ids;
  readonly roles: Roles;
  readonly threads: HelperThreads;
  settings(): AgentSettings;
  /** Whether a thread may have helpers. */
  isOn(threadId: string): boolean;
}

/** Access to the threads of helpers. */
export interface HelperThreads {
  interrupt(childId: string): Promise<void>;
  close(childId: string): Promise<void>;
  /** Loads the thread of an earlier helper again; undefined if `parent` never had a helper with this ID. */
  open(
    parent: ThreadState,
    childId: string,
  ): Promise<OpenedHelper | { readonly problem: string } | undefined>;
  /** The number of open helpers of all other threads below the same root thread. */
  openElsewhere(facts: ThreadFacts): number;
}

/**
 * Limit on the open helpers of one thread: the limit for all threads below the root thread, minus the open helpers of
 * the other threads.
 */
export function limitOf({ settings, threads }: HelperToolPorts, { facts }: ThreadState): number {
  return Math.max(0, settings().maxThreads - threads.openElsewhere(facts));
}

type Described = Pick<Tool, "begin" | "perform" | "late"> & {
  readonly name: string;
  readonly description: string;
  readonly properties: object;
  readonly required?: readonly string[];
};

/** Builds a tool of the helper namespace. */
export function helperTool({ name, description, properties, required = [], ...steps }: Described): Tool {
  const parameters = { type: "object", properties, required, additionalProperties: false };
  return {
    name,
    namespace: HELPER_NAMESPACE,
    parameters,
    spec: {
      kind: "function",
      name,
      namespace: HELPER_NAMESPACE,
      namespaceDescription: "Starts other agents that work for you, and talks to them.",
      description,
      parameters,
      strict: false,
    },
    ...steps,
  };
}

/**
 * The step that performs an operation on helpers. The thread decides whether the operation is possible, because only
 * the thread knows the state of its helpers.
 */
export function help(what: Help, item?: Extract<Step, { kind: "help" }>["item"]): Step {
  return { kind: "help", help: what, ...(item && { item }) };
}

/** The ID of the root thread's turn that a call belongs to. In a root thread, it is the call's own turn. */
export function rootTurnOf({ thread, turnId }: Invocation): string {
  return thread.turn?.rootTurnId ?? turnId;
}
