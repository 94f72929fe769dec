import { depthOf } from "../../core/children/helper-identity.ts";
import type { HelperSettings } from "../../core/children/helper-thread-state.ts";
import { type Invocation, refusal, type Step, type Tool } from "../tool.ts";
import { helperItem } from "./helper-call-item.ts";
import { type HelperMessage, helperInput, MESSAGE_PROPERTIES, promptOf } from "./helper-input.ts";
import type { RoleDescription } from "./helper-settings.ts";
import { type HelperToolPorts, help, helperTool, limitOf, rootTurnOf } from "./helper-tool.ts";
import { nicknameFor } from "./nicknames.ts";

interface SpawnArguments extends HelperMessage {
  readonly agent_type?: string;
  readonly fork_context?: boolean;
  readonly model?: string;
  readonly reasoning_effort?: string;
}

const DESCRIPTION = [
  "Starts an agent that works on a task beside you, with your model, your folder and what you may do, and returns its id and its name.",
  "Only when the user, or instructions that apply, ask for agents or for work to be delegated; not because a task is large.",
  "Give it a task that stands alone: it sees nothing of this conversation unless you set `fork_context`.",
  "Go on with your own work meanwhile. You hear how it ends by itself, or from wait_agent. Close it when you need it no longer.",
].join("\n");

/** The tool `spawn_agent`. `roles`: the configured kinds of helpers. */
export function spawnAgent(ports: HelperToolPorts, roles: readonly RoleDescription[]): Tool {
  return helperTool({
    name: "spawn_agent",
    description: DESCRIPTION,
    properties: {
      ...MESSAGE_PROPERTIES,
      ...(roles.length > 0 && { agent_type: { type: "string", description: rolesInWords(roles) } }),
      fork_context: {
        type: "boolean",
        description: "Whether it begins with this conversation. By default it has its task alone.",
      },
      model: { type: "string", description: "Another model than yours. Only if one is asked for." },
      reasoning_effort: {
        type: "string",
        description: "Another reasoning effort than yours. Only if one is asked for.",
      },
    },
    begin: (invocation) => begin(ports, invocation),
  });
}

async function begin(ports: HelperToolPorts, invocation: Invocation): Promise<Step> {
  const { thread } = invocation;
  const args = invocation.args as SpawnArguments;
  const input = helperInput(args);
  if (typeof input === "string") return refusal(input);
  const { maxDepth } = ports.settings();
  if (depthOf(thread.facts) >= maxDepth)
    return refusal(`Agents may be nested ${maxDepth} deep, and no deeper. Do the task yourself.`);
  const fork = args.fork_context ?? false;
  const role = args.agent_type?.trim() || null;
  if (fork && role !== null)
    return refusal("An agent that begins with this conversation is of your own kind: leave out agent_type.");
  const chosen = role === null ? undefined : await ports.roles.choose(role);
  if (chosen !== undefined && "problem" in chosen) return refusal(chosen.problem);
  const requested = askedSettings(ports, invocation, args);
  if (typeof requested === "string") return refusal(requested);
  const taken = thread.helpers.open.map(({ nickname }) => nickname);
  return help(
    {
      kind: "spawn",
      childId: ports.ids.uuid(),
      nickname: nicknameFor(taken, ports.ids, chosen?.nicknames ?? null),
      role,
      start: {
        callId: invocation.call.callId,
        fork,
        // The role's settings come last, because a call cannot change them.
        settings: { ...requested, ...chosen?.settings },
        developerInstructions: chosen?.developerInstructions ?? null,
      },
      input: { id: ports.ids.uuid(), input, rootTurnId: rootTurnOf(invocation) },
      limit: limitOf(ports, thread),
    },
    helperItem(invocation, "spawnAgent", {
      prompt: promptOf(input),
      model: args.model ?? "",
      reasoningEffort: args.reasoning_effort ?? null,
    }),
  );
}

/**
 * The model and effort that the call or else the configuration chooses. Returns a string with the reason if they are
 * invalid. Whether the model exists is not checked: if the provider refuses it, the helper's turn ends with that
 * error.
 */
function askedSettings(
  ports: HelperToolPorts,
  { thread }: Invocation,
  { model: askedModel, reasoning_effort: askedEffort }: SpawnArguments,
): HelperSettings | string {
  const wrong = Object.entries({ model: askedModel, reasoning_effort: askedEffort }).find(
    ([, value]) => value !== undefined && !NAME.test(value),
  );
  if (wrong !== undefined) return `${wrong[0]} is no name: ${JSON.stringify(wrong[1]!.slice(0, 100))}.`;
  const { defaultModel, defaultEffort } = ports.settings();
  const model = askedModel ?? defaultModel ?? undefined;
  const effort = askedEffort ?? defaultEffort ?? undefined;
  const isOther = model !== undefined && model !== thread.settings.model;
  return {
    ...(model !== undefined && { model }),
    // Another model may not support the parent's effort.
    ...(effort !== undefined ? { effort } : isOther && { effort: null }),
  };
}

/** Valid names of models and efforts. */
const NAME = /^\S.{0,199}$/;

function rolesInWords(roles: readonly RoleDescription[]): string {
  const lines = roles.map(({ name, description, model, effort }) => {
    const fixed = [
      ...(model === null ? [] : [`model ${model}`]),
      ...(effort === null ? [] : [`reasoning effort ${effort}`]),
    ];
    return `- ${name}: ${description}${fixed.length === 0 ? "" : ` (always ${fixed.join(", ")})`}`;
  });
  return `What kind of agent it is; left out, it is one like you. One of:\n${lines.join("\n")}`;
}
