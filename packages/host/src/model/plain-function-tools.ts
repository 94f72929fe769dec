import { createHash } from "node:crypto";
import type { ToolCall } from "../core/turn/records.ts";
import type { ToolSpec } from "./model.ts";

/**
 * The parameters of a custom tool, for APIs that support only functions: the tool's text becomes the member `input`.
 */
const TEXT_INPUT = { type: "object", properties: { input: { type: "string" } }, required: ["input"] };

const MAX_NAME = 64;

interface PlainTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
}

type Callable = Exclude<ToolSpec, { kind: "webSearch" }>;

/** Converts tools for APIs that have neither namespaces nor custom tools. */
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

  /** Translates a call by the model back to the tool's own name, namespace and input. */
  read(callId: string, name: string, text: string): ToolCall {
    const spec = this.#byName.get(name);
    if (spec?.kind === "custom") {
      return { callId, name: spec.name, namespace: null, arguments: inputOf(text), kind: "custom" };
    }
    const namespace = spec?.kind === "function" ? spec.namespace : null;
    return { callId, name: spec?.name ?? name, namespace, arguments: text || "{}", kind: "function" };
  }
}

/**
 * The name of a tool for APIs without namespaces. A name that is too long ends with a digest, so that different names
 * stay different.
 */
export function plainName(tool: { readonly name: string; readonly namespace?: string | null }): string {
  const whole = tool.namespace ? `${tool.namespace}__${tool.name}` : tool.name;
  const name = whole.replace(/[^\w-]/g, "_");
  if (name.length <= MAX_NAME) return name;
  const digest = createHash("sha256").update(whole).digest("hex").slice(0, 10);
  return `${name.slice(0, MAX_NAME - digest.length - 1)}_${digest}`;
}

/** Descriptions of tool namespaces as text for the instructions, for APIs that have no other place for them. */
export function namespaceWords(specs: readonly ToolSpec[]): string {
  const words = new Map<string, string>();
  for (const spec of specs) {
    if (spec.kind !== "function" || spec.namespace === null || !spec.namespaceDescription?.trim()) continue;
    words.set(spec.namespace, spec.namespaceDescription.trim());
  }
  return [...words]
    .map(([name, text]) => `About the tools whose names begin with ${name}__:\n${text}`)
    .join("\n\n");
}

/** A call's arguments as a JSON object. Text that is not valid JSON is kept in the member `input`. */
export function plainArguments({ kind, arguments: text }: ToolCall): Record<string, unknown> {
  if (kind === "custom") return { input: text };
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json === "object" && json !== null && !Array.isArray(json))
      return json as Record<string, unknown>;
  } catch {
    // Not JSON: handled below.
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
