import type { ThreadState } from "../core/state.ts";
import type { ContextPart, ModelRequest } from "../model/model.ts";
import type { Actor } from "../thread/actor.ts";
import type { SamplingPart, SamplingRequest } from "../tool/mcp/sampling.ts";
import type { Sampled } from "../tool/mcp/user-questions.ts";
import { inlineMedia } from "../tool/media.ts";
import type { RunnerPorts } from "./runner.ts";
import { ThreadModelClient } from "./thread-model-client.ts";

/** Time limit of a model call for an MCP server. */
const SAMPLE_MS = 120_000;
/** Limit on the bytes of the answer, including the model's reasoning. */
const ANSWER_BYTES = 1024 * 1024;

/**
 * Calls a thread's model for an MCP server (MCP sampling). The model gets the server's messages, not the thread's
 * conversation.
 */
export async function sampleForServer(
  actor: Actor,
  ports: RunnerPorts,
  request: SamplingRequest,
  signal: AbortSignal,
): Promise<Sampled> {
  const state = await actor.peek();
  const { settings } = state;
  const late = new AbortController();
  const cancel = ports.platform.timers.after(SAMPLE_MS, () =>
    late.abort(new Error("the model took too long")),
  );
  const both = AbortSignal.any([signal, late.signal]);
  try {
    const provider = ports.provider(settings.modelProvider);
    const { answerLimits } = ports.modelsOf(actor.id);
    const limits = {
      ...answerLimits,
      answerBytes: Math.min(answerLimits.answerBytes, ANSWER_BYTES),
      itemBytes: Math.min(answerLimits.itemBytes, ANSWER_BYTES),
    };
    const modelRequest = requestOf(request, state);
    const answer = await new ThreadModelClient(actor, ports).textOf(
      provider,
      modelRequest,
      state,
      both,
      limits,
    );
    both.throwIfAborted();
    if (answer === undefined) throw new Error("the model's answer broke off");
    if (answer.kind === "failed") throw new Error(answer.event.error.message);
    return { text: answer.final || answer.text, model: settings.model, usage: answer.event.usage };
  } finally {
    cancel();
  }
}

function requestOf(request: SamplingRequest, { settings, facts }: ThreadState): ModelRequest {
  return {
    model: settings.model,
    effort: settings.effort,
    summary: null,
    verbosity: null,
    serviceTier: settings.serviceTier,
    outputSchema: null,
    instructions: request.instructions,
    context: request.messages.map(({ role, parts }) => ({ type: "message", role, parts: parts.map(partOf) })),
    tools: [],
    parallelToolCalls: false,
    promptCacheKey: `${facts.id}-sampling`,
    answerBytes: ANSWER_BYTES,
  };
}

function partOf(part: SamplingPart): ContextPart {
  if (part.type === "text") return part;
  const read = inlineMedia(part.url, part.type);
  if ("problem" in read) return { type: "text", text: `(${part.type} left out: ${read.problem})` };
  return part.type === "image"
    ? { type: "image", url: read.url, detail: null }
    : { type: "audio", url: read.url };
}
