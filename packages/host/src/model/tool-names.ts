import type { ToolCall } from "../core/turn/records.ts";
import type { ToolSpec } from "./model.ts";

/** What a tool of any kind takes on wires that know functions only: custom ones take their text as a member. */
const TEXT_INPUT = { type: "object", properties: { input: { type: "string" } }, required: ["input"] };

interface PlainTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
}

type Callable = Exclude<ToolSpec, { kind: "webSearch" }>;

/** Tools on wires that have neither namespaces nor custom tools. */
export class PlainTools {
  readonly list: readonly PlainTool[];
  readonly #byName: ReadonlyMap<string, Callable>;

  constructor(specs: readonly ToolSpec[]) {
    const callable = specs.filter((spec) => spec.kind !== "webSearch");
    this.#byName = new Map(callable.map((spec) => [plainName(spec), spec]));
    this.list = [...this.#byName].map(([name, spec]) => ({
      name,
      description: spec.description,
      parameters:
        spec.kind === "custom" ? TEXT_INPUT : (spec.parameters ?? { type: "object", properties: {} }),
    }));
  }

  /** A call as the model wrote it, in the words of the tool. */
  read(callId: string, name: string, text: string): ToolCall {
    const spec = this.#byName.get(name);
    if (spec?.kind === "custom") {
      return { callId, name: spec.name, namespace: null, arguments: inputOf(text), kind: "custom" };
    }
    const namespace = spec?.kind === "function" ? spec.namespace : null;
    return { callId, name: spec?.name ?? name, namespace, arguments: text || "{}", kind: "function" };
  }
}

/** How a tool is called there. */
export function plainName(tool: { readonly name: string; readonly namespace?: string | null }): string {
  const name = tool.namespace ? `${tool.namespace}__${tool.name}` : tool.name;
  return name.replace(/[^\w-]/g, "_").slice(0, 64);
}

/** A call's arguments as JSON; what is none, because the model wrote it so, stays readable. */
export function plainArguments({ kind, arguments: text }: ToolCall): Record<string, unknown> {
  if (kind === "custom") return { input: text };
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json === "object" && json !== null && !Array.isArray(json))
      return json as Record<string, unknown>;
  } catch {
    // Falls through.
  }
  return { input: text };
}

function inputOf(text: string): string {
  try {
    const { input } = JSON.parse(text) as { input?: unknown };
    return typeof input === "string" ? input : text;
  } catch {
    return text;
  }
}
