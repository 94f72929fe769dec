import type { ContextItem, ContextMessage, ModelRequest, ToolSpec } from "./model.ts";
import { plainArguments } from "./plain-function-tools.ts";
import { sentTier } from "./service-tier.ts";
import { isDeferred, readSearchOutput, searchesIn } from "./tool-search.ts";

/** Models that support reasoning; others refuse requests for it. */
const REASONING_MODELS = /^(gpt-(?!3|4)|o\d|codex|computer-use)/;

/** Models with built-in tool search; others get it as a function tool. */
const TOOL_SEARCH_MODELS = /^gpt-(5\.[4-9]|5\.\d\d|[6-9]|\d\d)/;

/** Builds the request body of OpenAI's Responses API. */
export function responsesBody(request: ModelRequest): object {
  const { effort, summary, model, outputSchema, verbosity } = request;
  const searches = TOOL_SEARCH_MODELS.test(model) ? searchesIn(request.context) : NONE;
  const tier = sentTier(request.serviceTier, model);
  // A request for a reasoning summary implies that the model reasons.
  const wantsSummary = summary !== null && summary !== "none";
  const reasons = effort === null ? wantsSummary || REASONING_MODELS.test(model) : effort !== "none";
  return {
    model,
    instructions: request.instructions,
    input: request.context.map((item) => searchItem(item, searches) ?? inputItem(item)),
    tools: toolList(request.tools, TOOL_SEARCH_MODELS.test(model)),
    tool_choice: "auto",
    parallel_tool_calls: request.parallelToolCalls,
    // The provider stores nothing: each request contains the whole context.
    store: false,
    stream: true,
    include: reasons ? ["reasoning.encrypted_content"] : [],
    prompt_cache_key: request.promptCacheKey,
    ...(tier !== null && { service_tier: tier }),
    ...((reasons || effort !== null) && {
      reasoning: {
        ...(effort !== null && { effort }),
        ...(summary !== "none" && reasons && { summary: summary ?? "auto" }),
      },
    }),
    ...((outputSchema != null || verbosity !== null) && {
      text: {
        ...(verbosity !== null && { verbosity }),
        ...(outputSchema != null && {
          format: { type: "json_schema", name: "answer", strict: true, schema: outputSchema },
        }),
      },
    }),
  };
}

const NONE: ReadonlySet<string> = new Set();

/** A tool search and its result in the format of the built-in tool search; undefined for all other items. */
function searchItem(item: ContextItem, searches: ReadonlySet<string>): unknown {
  if ((item.type !== "toolCall" && item.type !== "toolOutput") || !searches.has(item.callId))
    return undefined;
  const about = { call_id: item.callId, execution: "client", status: "completed" };
  if (item.type === "toolCall")
    return { type: "tool_search_call", ...about, arguments: plainArguments(item) };
  const found = readSearchOutput(item.output).map(
    ({ namespace, namespaceDescription, name, description, parameters }): ToolSpec => {
      const spec = { kind: "function", namespace, namespaceDescription, name, description } as const;
      return { ...spec, parameters, strict: false, deferred: true };
    },
  );
  return { type: "tool_search_output", ...about, tools: toolList(found, false) };
}

function inputItem(item: ContextItem): unknown {
  switch (item.type) {
    case "message":
      return {
        type: "message",
        role: item.role,
        content: contentOf(item),
        ...(item.phase != null && { phase: item.phase }),
      };
    case "reasoning":
      return {
        type: "reasoning",
        summary: item.summary.map((text) => ({ type: "summary_text", text })),
        encrypted_content: item.carry,
      };
    case "toolCall": {
      const { callId: call_id, name, namespace } = item;
      if (item.kind === "custom") return { type: "custom_tool_call", call_id, name, input: item.arguments };
      return {
        type: "function_call",
        call_id,
        name,
        ...(namespace !== null && { namespace }),
        arguments: item.arguments,
      };
    }
    case "toolOutput":
      return {
        type: item.kind === "custom" ? "custom_tool_call_output" : "function_call_output",
        call_id: item.callId,
        output: item.output,
      };
    case "raw":
      return item.item;
  }
}

function contentOf({ role, parts }: ContextMessage): unknown[] {
  const type = role === "assistant" ? "output_text" : "input_text";
  return parts.map((part) => {
    if (part.type === "text") return { type, text: part.text };
    if (part.type === "audio") return { type: "input_audio", audio_url: part.url };
    return {
      type: "input_image",
      image_url: part.url,
      ...(part.detail !== null && { detail: part.detail }),
    };
  });
}

function searchTool(
  { name, description, parameters }: Extract<ToolSpec, { kind: "toolSearch" }>,
  searches: boolean,
): unknown {
  if (searches) return { type: "tool_search", execution: "client", description, parameters };
  return { type: "function", name, description, strict: false, parameters };
}

/** The tools of a request; functions of one namespace are grouped. */
function toolList(specs: readonly ToolSpec[], searches: boolean): unknown[] {
  const tools: unknown[] = [];
  const namespaces = new Map<string, unknown[]>();
  for (const spec of specs) {
    if (spec.kind === "webSearch") tools.push({ type: "web_search", external_web_access: spec.live });
    else if (spec.kind === "toolSearch") tools.push(searchTool(spec, searches));
    // Deferred tools are not listed. The model gets them from the search results in its context.
    else if (searches && isDeferred(spec)) continue;
    else if (spec.kind === "custom") {
      const { name, description, format } = spec;
      tools.push({ type: "custom", name, description, ...(format != null && { format }) });
    } else {
      const { name, namespace, description, parameters, strict } = spec;
      const found = spec.deferred ? { defer_loading: true } : {};
      const tool = { type: "function", name, description, strict, ...found, parameters };
      if (namespace === null) {
        tools.push(tool);
        continue;
      }
      let group = namespaces.get(namespace);
      if (group === undefined) {
        group = [];
        namespaces.set(namespace, group);
        tools.push({
          type: "namespace",
          name: namespace,
          description: spec.namespaceDescription?.trim() || `Tools in the ${namespace} namespace.`,
          tools: group,
        });
      }
      group.push(tool);
    }
  }
  return tools;
}
