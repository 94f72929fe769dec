import type { Model } from "@bobbin/protocol";
import { chatStream } from "./chat.ts";
import { ModelFault } from "./faults.ts";
import { getJson, type ModelPorts, probe } from "./http.ts";
import { arrayIn, objectIn, textIn } from "./loose.ts";
import { messagesStream } from "./messages.ts";
import type { ModelProvider, ModelRequest, ModelStream } from "./model.ts";
import { describeModel } from "./models.ts";
import { responsesStream } from "./responses.ts";

type Stream = (ports: ModelPorts, request: ModelRequest, signal: AbortSignal) => ModelStream;

/** How long a list waits for a server on this machine to say what it has. */
const LIST_MS = 1_000;

const STREAMS: { readonly [W in ModelPorts["settings"]["wire"]]: Stream } = {
  responses: responsesStream,
  chat: chatStream,
  messages: messagesStream,
};

/** A provider that speaks one of the three wires. */
export function httpProvider(ports: ModelPorts): ModelProvider {
  const { settings } = ports;
  return {
    id: settings.id,
    models: () => listModels(ports),
    check: (signal) => probe(ports, "/models", signal),
    stream: (request, signal) => faultsAsEvents(STREAMS[settings.wire](ports, request, signal)),
  };
}

async function* faultsAsEvents(stream: ModelStream): ModelStream {
  try {
    for await (const events of stream) yield events;
  } catch (cause) {
    if (!(cause instanceof ModelFault)) throw cause;
    yield [cause.toEvent()];
  }
}

async function listModels(ports: ModelPorts): Promise<readonly Model[]> {
  const { settings } = ports;
  const names = settings.local ? await askNames(ports) : [];
  // What is configured comes first, unless it is only our guess of what a server on this machine might have.
  const known = names.length > 0 && settings.models.length === 1 && !names.includes(settings.models[0]!);
  return [...new Set([...(known ? [] : settings.models), ...names])].map((name) =>
    describeModel(name, {
      provider: settings.name,
      reasons: settings.wire !== "chat" || /gpt-oss|qwen3|deepseek-r/.test(name),
      sees: settings.wire !== "chat",
    }),
  );
}

async function askNames(ports: ModelPorts): Promise<readonly string[]> {
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
