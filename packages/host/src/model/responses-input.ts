import type { ContextItem, ContextMessage, ModelRequest, ToolSpec } from "./model.ts";
import { sentTier } from "./service-tier.ts";

/** The models that reason; others refuse to be asked for it. */
const REASONS = /^(gpt-(?!3|4)|o\d|codex|computer-use)/;

export function responsesBody(request: ModelRequest): object {
  const { effort, summary, model, outputSchema, verbosity } = request;
  const tier = sentTier(request.serviceTier, model);
  // Who asks for a summary knows that there is something to sum up.
  const asked = summary !== null && summary !== "none";
  const reasons = effort === null ? asked || REASONS.test(model) : effort !== "none";
  return {
    model,
    instructions: request.instructions,
    input: request.context.map(inputItem),
    tools: toolList(request.tools),
    tool_choice: "auto",
    parallel_tool_calls: request.parallelToolCalls,
    // Nothing is kept at the provider: what it has to know again is sent again.
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

/** Functions of one namespace go together. */
function toolList(specs: readonly ToolSpec[]): unknown[] {
  const tools: unknown[] = [];
  const namespaces = new Map<string, unknown[]>();
  for (const spec of specs) {
    if (spec.kind === "webSearch") tools.push({ type: "web_search", external_web_access: spec.live });
    else if (spec.kind === "custom") {
      const { name, description, format } = spec;
      tools.push({ type: "custom", name, description, ...(format != null && { format }) });
    } else {
      const { name, namespace, description, parameters, strict } = spec;
      const tool = { type: "function", name, description, strict, parameters };
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
