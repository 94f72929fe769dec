import { httpProvider } from "../../packages/host/src/model/http-provider.ts";
import type { ContextItem, ModelEvent, ModelRequest } from "../../packages/host/src/model/model.ts";
import type { ProviderSettings } from "../../packages/host/src/model/provider-settings.ts";
import { nodePlatform } from "../../packages/host/src/platform/node.ts";
import type { Http } from "../../packages/host/src/platform/platform.ts";

/** Settings of a provider at a local server. */
export function settingsFor(
  wire: ProviderSettings["wire"],
  baseUrl: string,
  more: Partial<ProviderSettings> = {},
): ProviderSettings {
  return {
    id: "local",
    name: "Local",
    wire,
    baseUrl,
    models: ["m-1"],
    envKey: null,
    envKeyInstructions: null,
    envKeyFirst: true,
    bearerToken: null,
    headers: {},
    envHeaders: {},
    query: {},
    requestMaxRetries: 4,
    streamMaxRetries: 5,
    streamIdleTimeoutMs: 10_000,
    requiresOpenaiAuth: false,
    local: false,
    ...more,
  };
}

export function requestOf(more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: "m-1",
    effort: null,
    summary: null,
    verbosity: null,
    serviceTier: null,
    outputSchema: null,
    instructions: "Be brief.",
    context: [said("user", "hi")],
    tools: [],
    parallelToolCalls: true,
    promptCacheKey: "thread-1",
    answerBytes: 1_000_000,
    ...more,
  };
}

export function said(role: "user" | "assistant" | "developer", text: string): ContextItem {
  return { type: "message", role, parts: [{ type: "text", text }] };
}

/** All events of one call. The items' IDs are numbered in the order of their appearance. */
export async function eventsOf(
  settings: ProviderSettings,
  request: ModelRequest = requestOf(),
  around: { readonly env?: Record<string, string>; readonly http?: Http } = {},
): Promise<ModelEvent[]> {
  const { signal } = new AbortController();
  const platform = { ...nodePlatform(), ...(around.http && { http: around.http }) };
  const provider = httpProvider({ settings, platform, env: around.env ?? {} });
  const ids: string[] = [];
  const events: ModelEvent[] = [];
  for await (const together of provider.stream(request, signal)) {
    for (const event of together) {
      if (!("itemId" in event)) {
        events.push(event);
        continue;
      }
      if (!ids.includes(event.itemId)) ids.push(event.itemId);
      events.push({ ...event, itemId: `item ${ids.indexOf(event.itemId) + 1}` });
    }
  }
  return events;
}

/** An HTTP client in this process that returns the bytes in exactly these pieces. */
export function inPieces(...pieces: readonly Uint8Array[]): Http {
  return async () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
}

/** The failure that ended a call. */
export function failureOf(events: readonly ModelEvent[]): Extract<ModelEvent, { type: "failed" }> {
  const last = events.at(-1);
  if (last?.type !== "failed") throw new Error(`it ended with ${last?.type}`);
  return last;
}
