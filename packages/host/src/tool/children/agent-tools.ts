import type { CollabAgentState } from "@bobbin/protocol";
import { completed } from "../../core/children/helper-call-outcomes.ts";
import { depthOf } from "../../core/children/helper-identity.ts";
import { findHelper, RUNNING } from "../../core/children/helper-thread-state.ts";
import { type Invocation, refusal, type Step, type Tool } from "../tool.ts";
import { helperItem } from "./helper-call-item.ts";
import { type HelperMessage, helperInput, MESSAGE_PROPERTIES, promptOf } from "./helper-input.ts";
import { type HelperToolPorts, help, helperTool, limitOf, rootTurnOf } from "./helper-tool.ts";

/** Bounds and default of `wait_agent`'s timeout. */
const MIN_WAIT_MS = 10_000;
const MAX_WAIT_MS = 60 * 60_000;
const DEFAULT_WAIT_MS = 30_000;

/** Limit on the agents that one call of `wait_agent` may name. */
const MAX_TARGETS = 256;

const TARGET = { type: "string", description: "The agent's id, as spawn_agent returned it." };

/** The tools `send_input`, `wait_agent`, `resume_agent` and `close_agent`. */
export function agentTools(ports: HelperToolPorts): readonly Tool[] {
  return [sendInput(ports), waitAgent(), resumeAgent(ports), closeAgent(ports)];
}

function sendInput(ports: HelperToolPorts): Tool {
  const send = (invocation: Invocation): Step => {
    const args = invocation.args as HelperMessage & { readonly target: string };
    const input = helperInput(args);
    if (typeof input === "string") return refusal(input);
    const childId = idOf(args.target);
    const item = helperItem(invocation, "sendInput", {
      receiverThreadIds: [childId],
      prompt: promptOf(input),
    });
    const sent = { id: ports.ids.uuid(), input, rootTurnId: rootTurnOf(invocation) };
    return help({ kind: "send", childId, input: sent }, item);
  };
  return helperTool({
    name: "send_input",
    description:
      "Tells an agent more. One that is at work takes it in; one that has ended goes on with it. Use it, rather than another agent, for what follows from what an agent did.",
    properties: {
      target: TARGET,
      ...MESSAGE_PROPERTIES,
      interrupt: {
        type: "boolean",
        description: "Whether the agent drops what it is at, and does this instead.",
      },
    },
    required: ["target"],
    begin(invocation) {
      const { target, interrupt = false } = invocation.args as {
        readonly target: string;
        readonly interrupt?: boolean;
      };
      const step = send(invocation);
      const helper = findHelper(invocation.thread.helpers, idOf(target));
      if (step.kind !== "help" || !interrupt || helper?.state.status !== "running") return step;
      return { kind: "dispatch", again: true, plan: { interrupts: helper.childId }, item: step.item };
    },
    async perform(invocation) {
      await ports.threads.interrupt(idOf((invocation.args as { readonly target: string }).target));
      return send(invocation);
    },
  });
}

function waitAgent(): Tool {
  return helperTool({
    name: "wait_agent",
    description:
      "Waits until one of the agents has ended, and returns how: a completed one with its last message. Returns nothing of them if that takes longer than the timeout. Wait only when you cannot go on without the result; you are notified of the end of an agent even if you do not wait for it.",
    properties: {
      targets: {
        type: "array",
        items: { type: "string" },
        description: "The ids of the agents. The first one to end ends the wait.",
      },
      timeout_ms: {
        type: "number",
        description: `How long to wait, in milliseconds: from ${MIN_WAIT_MS} to ${MAX_WAIT_MS}, and ${DEFAULT_WAIT_MS} if left out. Prefer long waits to many.`,
      },
    },
    required: ["targets"],
    begin(invocation) {
      const { targets, timeout_ms: timeout = DEFAULT_WAIT_MS } = invocation.args as {
        readonly targets: readonly string[];
        readonly timeout_ms?: number;
      };
      if (targets.length === 0) return refusal("Name at least one agent.");
      if (targets.length > MAX_TARGETS) return refusal(`Name at most ${MAX_TARGETS} agents.`);
      if (!(timeout > 0)) return refusal("timeout_ms has to be greater than zero.");
      const until = invocation.now + Math.round(Math.min(Math.max(timeout, MIN_WAIT_MS), MAX_WAIT_MS));
      const childIds = [...new Set(targets.map(idOf))];
      return help(
        { kind: "wait", childIds, until },
        helperItem(invocation, "wait", { receiverThreadIds: childIds }),
      );
    },
    late({ thread, call, now }) {
      const shown = thread.turn?.open.find(({ id }) => id === call.callId);
      const output = JSON.stringify({ status: {}, timed_out: true });
      return { kind: "settle", output, success: true, ...(shown && { item: completed(shown, now, {}) }) };
    },
  });
}

function closeAgent(ports: HelperToolPorts): Tool {
  return helperTool({
    name: "close_agent",
    description:
      "Closes an agent that you no longer need, and those that it has started, and returns how it was before. One that has ended counts towards the limit of open agents until it is closed.",
    properties: { target: TARGET },
    required: ["target"],
    begin(invocation) {
      const target = idOf((invocation.args as { readonly target: string }).target);
      const item = helperItem(invocation, "closeAgent", { receiverThreadIds: [target] });
      const helper = findHelper(invocation.thread.helpers, target);
      if (helper === undefined) return help({ kind: "missing", childId: target }, item);
      // An agent with undelivered input counts as running.
      const previous = helper.inputs.length > 0 ? RUNNING : helper.state;
      const plan: ClosePlan = { closes: target, previous };
      return { kind: "dispatch", again: true, plan, item };
    },
    async perform({ plan }) {
      const { closes: childId, previous } = plan as ClosePlan;
      await ports.threads.close(childId);
      return help({ kind: "close", childId, previous });
    },
  });
}

interface ClosePlan {
  readonly closes: string;
  readonly previous: CollabAgentState;
}

function resumeAgent(ports: HelperToolPorts): Tool {
  return helperTool({
    name: "resume_agent",
    description:
      "Opens an agent again that was closed, with all that it knew, so that it takes send_input and can be waited for. Returns how it is.",
    properties: { id: { type: "string", description: "The agent's id, as spawn_agent returned it." } },
    required: ["id"],
    begin(invocation) {
      const id = idOf((invocation.args as { readonly id: string }).id);
      const { thread } = invocation;
      const { maxDepth } = ports.settings();
      if (depthOf(thread.facts) >= maxDepth)
        return refusal(`Agents may be nested ${maxDepth} deep, and no deeper. Do the task yourself.`);
      const item = helperItem(invocation, "resumeAgent", { receiverThreadIds: [id] });
      const helper = findHelper(thread.helpers, id);
      if (helper !== undefined) return help({ kind: "open", ...helper, limit: limitOf(ports, thread) }, item);
      if (!UUID.test(id)) return help({ kind: "missing", childId: id }, item);
      return { kind: "dispatch", again: true, item };
    },
    async perform(invocation) {
      const { thread } = invocation;
      const childId = idOf((invocation.args as { readonly id: string }).id);
      const limit = limitOf(ports, thread);
      if (thread.helpers.open.length >= limit) return help({ kind: "full", limit });
      const opened = await ports.threads.open(thread, childId);
      if (opened === undefined) return help({ kind: "missing", childId });
      if ("problem" in opened) return refusal(`The agent cannot be opened: ${opened.problem}`);
      return help({ kind: "open", childId, ...opened, limit });
    },
  });
}

/**
 * An agent's ID as the model wrote it. A text that is no ID matches no agent; it is shortened, because clients and
 * models see it.
 */
function idOf(text: string): string {
  const id = text.trim().toLowerCase();
  return UUID.test(id) ? id : text.slice(0, 100);
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
