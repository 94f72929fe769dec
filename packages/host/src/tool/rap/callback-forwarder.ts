import { type Answer, exchange, readAnswer } from "@bobbin/rap/runtime";
import { IDEMPOTENCY_KEY, parseJson } from "@bobbin/rap/wire";
import type { HttpReply, IncomingRequest, Platform } from "../../platform/platform.ts";
import type { DocumentStore } from "../../store/documents.ts";
import { readCallbacks } from "./callback-key-and-ports.ts";
import type { CallbackSockets } from "./callback-sockets.ts";
import type { RapSettings } from "./rap-settings.ts";

export interface ForwarderPorts {
  readonly documents: Pick<DocumentStore, "read">;
  readonly settings: RapSettings;
  readonly platform: Pick<Platform, "http" | "timers">;
}

/** Header of a forwarded request. Such a request is not forwarded again. */
const FORWARDED = "bobbin-forwarded";
const FORWARD_MS = 20_000;
const MAX_REPLY_BYTES = 64 * 1024;

/** Forwards callbacks of tool servers to other hosts with this home. */
export class CallbackForwarder {
  readonly #ports: ForwarderPorts;
  readonly #sockets: Pick<CallbackSockets, "isHeld">;

  constructor(ports: ForwarderPorts, sockets: Pick<CallbackSockets, "isHeld">) {
    this.#ports = ports;
    this.#sockets = sockets;
  }

  /**
   * Forwards a request to the other live hosts of this home, because one of them may have loaded its thread. Resolves
   * to that host's reply, or to `otherwise`. Ports without a live host's lock are skipped, because another program
   * may use them.
   */
  async forward(
    { path, headers }: IncomingRequest,
    body: Uint8Array,
    otherwise: 410 | 503,
  ): Promise<HttpReply> {
    const { platform, settings, documents } = this.#ports;
    if (headers.get(FORWARDED) !== null) return { status: otherwise };
    const stored = await readCallbacks(documents);
    let unanswered = false;
    for (const port of new Set([...(stored?.ports ?? []), ...(stored?.forwards ?? [])])) {
      if (!(await this.#sockets.isHeld(port))) continue;
      const key = headers.get(IDEMPOTENCY_KEY);
      const sent = await exchange(
        { send: platform.http, after: platform.timers.after },
        new URL(callbackAddress(settings, port) + path),
        {
          method: "POST",
          headers: {
            "content-type": "application/json",
            [FORWARDED]: "1",
            ...(key !== null && { [IDEMPOTENCY_KEY]: key }),
          },
          body: new TextDecoder().decode(body),
        },
        FORWARD_MS,
        replyOf,
      );
      if (sent.kind === "answered" && sent.value.status !== otherwise) return sent.value;
      unanswered ||= sent.kind !== "answered";
    }
    return { status: unanswered ? 503 : otherwise };
  }
}

/** The URL of a callback port on this machine. */
export function callbackAddress({ callbackListen: { host } }: RapSettings, port: number): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

/** The reply of another host. */
async function replyOf(answer: Answer): Promise<HttpReply> {
  const { status } = answer;
  const bytes = await readAnswer(answer, MAX_REPLY_BYTES);
  const json = parseJson(bytes ?? new Uint8Array());
  const says = json.ok ? json.value["error"] : undefined;
  return { status, ...(typeof says === "string" && { says }) };
}
