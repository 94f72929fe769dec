import type { Model } from "@bobbin/protocol";
import { messagesStream } from "./anthropic-messages-api.ts";
import { chatStream } from "./chat-completions-api.ts";
import { ModelFault } from "./faults.ts";
import { arrayIn, objectIn, textIn } from "./loose-json.ts";
import type { ModelProvider, ModelRequest, ModelStream } from "./model.ts";
import { describeModel } from "./model-description.ts";
import { responsesStream } from "./openai-responses-api.ts";
import { hideSecrets } from "./provider-credential.ts";
import { getJson, type ModelPorts, probe } from "./provider-requests.ts";

type Stream = (ports: ModelPorts, request: ModelRequest, signal: AbortSignal) => ModelStream;

/** How long `models()` waits for a local server to list its models. */
const LIST_MS = 1_000;

const STREAMS: { readonly [W in ModelPorts["settings"]["wire"]]: Stream } = {
  responses: responsesStream,
  chat: chatStream,
  messages: messagesStream,
};

/** A provider that is called over HTTP, with one of the three wire APIs. */
export function httpProvider(ports: ModelPorts): ModelProvider {
  const { settings } = ports;
  return {
    id: settings.id,
    models: () => listModels(ports),
    check: (signal) =>
      probe(ports, "/models", signal).catch((cause) => Promise.reject(redacted(ports, cause))),
    stream: (request, signal) => faultsAsEvents(ports, STREAMS[settings.wire](ports, request, signal)),
  };
}

async function* faultsAsEvents(ports: ModelPorts, stream: ModelStream): ModelStream {
  try {
    for await (const events of stream) yield events;
  } catch (cause) {
    if (!(cause instanceof ModelFault)) throw cause;
    yield [redacted(ports, cause).toEvent()];
  }
}

/** Redacts secrets in a fault, because servers repeat the key in their errors, and faults are shown and recorded. */
function redacted<E>(ports: ModelPorts, cause: E): E | ModelFault {
  if (!(cause instanceof ModelFault)) return cause;
  return new ModelFault(hideSecrets(ports, cause.message), cause.info, cause.retry, cause.code);
}

async function listModels(ports: ModelPorts): Promise<readonly Model[]> {
  const { settings } = ports;
  const names = settings.local ? await listNames(ports) : [];
  // Configured models come first. If only one model is configured and the local server does not list it, it is only a
  // guess, and is dropped.
  const isGuess = names.length > 0 && settings.models.length === 1 && !names.includes(settings.models[0]!);
  return [...new Set([...(isGuess ? [] : settings.models), ...names])].map((name) =>
    describeModel(name, {
      provider: settings.name,
      reasons: settings.wire !== "chat" || /gpt-oss|qwen3|deepseek-r/.test(name),
      sees: settings.wire !== "chat",
    }),
  );
}

async function listNames(ports: ModelPorts): Promise<readonly string[]> {
  const stop = new AbortController();
  const cancel = ports.platform.timers.after(LIST_MS, () => stop.abort());
  try {
    const { data } = objectIn(await getJson(ports, "/models", stop.signal));
    return arrayIn(data)
      .map((model) => textIn(model.id))
      .filter((id) => id !== "");
  } catch {
    return [];
  } finally {
    cancel();
  }
}
