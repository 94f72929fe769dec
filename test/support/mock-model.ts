import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { atFileEnd } from "./file-end.ts";
import { ownAddress } from "./own-address.ts";

/** A request to the mock model's server. */
export interface Asked {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was sent.
  readonly body: any;
}

/** Handles one request to the server. */
export type Reply = (response: ServerResponse, asked: Asked) => void | Promise<void>;

/** A local model server. It answers each request with the next reply; the last reply is repeated. */
export class MockModel {
  readonly asked: Asked[] = [];
  readonly url: string;
  #replies: Reply[] = [];
  readonly #close: () => Promise<void>;
  #missing: RegExp | undefined;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.#close = close;
  }

  static async start(...replies: Reply[]): Promise<MockModel> {
    const server = createServer((request, response) => void model.#serve(request, response));
    await new Promise<void>((resolve) => server.listen(0, ownAddress(), resolve));
    const { address, port } = server.address() as AddressInfo;
    const model: MockModel = new MockModel(
      `http://${address}:${port}/v1`,
      () =>
        new Promise((resolve) => {
          server.close(() => resolve());
          server.closeAllConnections();
        }),
    );
    model.reply(...replies);
    open.add(model);
    return model;
  }

  /** From now on. */
  reply(...replies: Reply[]): void {
    this.#replies = replies;
  }

  /** Replies 404 to requests for these paths from now on. They take none of the replies. */
  lacks(paths: RegExp): void {
    this.#missing = paths;
  }

  async close(): Promise<void> {
    open.delete(this);
    await this.#close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const url = new URL(request.url!, this.url);
    const asked: Asked = {
      path: url.pathname,
      query: url.searchParams,
      headers: request.headers,
      body: text === "" ? undefined : JSON.parse(text),
    };
    this.asked.push(asked);
    if (this.#missing?.test(asked.path)) return void response.writeHead(404).end();
    const reply = this.#replies.length > 1 ? this.#replies.shift()! : this.#replies[0]!;
    await reply(response, asked);
  }
}

const open = new Set<MockModel>();
atFileEnd(async () => {
  await Promise.all([...open].map((model) => model.close()));
});

/** Sends a whole stream, in pieces of the given sizes; by default at once. */
export function stream(text: string, ...cuts: readonly number[]): Reply {
  return async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    const bytes = Buffer.from(text);
    let from = 0;
    for (const cut of cuts) {
      response.write(bytes.subarray(from, cut));
      from = cut;
      await new Promise(setImmediate);
    }
    response.end(bytes.subarray(from));
  };
}

/** A stream that ends too early. */
export function torn(text: string): Reply {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(text, () => response.destroy());
  };
}

/** A stream that stops sending without ending. */
export function silent(text: string): Reply {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(text === "" ? ": nothing yet\n\n" : text);
  };
}

/**
 * A stream without end, sent as fast as it is read, until the reader disconnects. `left`: called with the number of
 * sent bytes.
 */
export function endless(start: string, piece: string, left: (bytes: number) => void = () => {}): Reply {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const { socket } = response;
    const pour = (): void => {
      while (!response.destroyed) if (!response.write(piece)) return;
    };
    response.on("drain", pour);
    response.once("close", () => left(socket?.bytesWritten ?? 0));
    response.write(start);
    pour();
  };
}

export function refuse(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

/** Formats server-sent events with names, as most servers do. */
export function sse(events: readonly object[], end = ""): string {
  const named = (event: object) => ("type" in event ? `event: ${event.type}\n` : "");
  return events.map((event) => `${named(event)}data: ${JSON.stringify(event)}\n\n`).join("") + end;
}

/** Builds answers in the format of the Responses API. */
export const responses = {
  /** `phase`: the purpose that the model gives to the message. */
  message: (text: string, id = "msg_1", phase?: string): object[] => [
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { type: "message", id, role: "assistant", content: [], ...(phase && { phase }) },
    },
    ...(text.match(/.{1,5}/gsu) ?? []).map((delta) => ({
      type: "response.output_text.delta",
      item_id: id,
      output_index: 0,
      content_index: 0,
      delta,
    })),
    {
      type: "response.output_item.done",
      output_index: 0,
      item: {
        type: "message",
        id,
        role: "assistant",
        content: [{ type: "output_text", text }],
        ...(phase && { phase }),
      },
    },
  ],
  reasoning: (summary: readonly string[], encrypted: string, id = "rs_1"): object[] => [
    { type: "response.output_item.added", output_index: 0, item: { type: "reasoning", id, summary: [] } },
    ...summary.flatMap((text, summary_index) => [
      { type: "response.reasoning_summary_part.added", item_id: id, output_index: 0, summary_index },
      {
        type: "response.reasoning_summary_text.delta",
        item_id: id,
        output_index: 0,
        summary_index,
        delta: text,
      },
    ]),
    {
      type: "response.output_item.done",
      output_index: 0,
      item: {
        type: "reasoning",
        id,
        summary: summary.map((text) => ({ type: "summary_text", text })),
        encrypted_content: encrypted,
      },
    },
  ],
  call: (name: string, args: string, callId = "call_1", namespace?: string): object[] => [
    {
      type: "response.output_item.done",
      output_index: 1,
      item: {
        type: "function_call",
        id: "fc_1",
        call_id: callId,
        name,
        ...(namespace !== undefined && { namespace }),
        arguments: args,
      },
    },
  ],
  /** A call of the built-in tool search, for models that have one. */
  toolSearch: (args: object, callId = "call_1"): object[] => [
    {
      type: "response.output_item.done",
      output_index: 1,
      item: {
        type: "tool_search_call",
        id: "ts_1",
        call_id: callId,
        execution: "client",
        status: "completed",
        arguments: args,
      },
    },
  ],
  /** A call of a freeform tool. */
  customCall: (name: string, input: string, callId = "call_1"): object[] => [
    {
      type: "response.output_item.done",
      output_index: 1,
      item: { type: "custom_tool_call", id: "ctc_1", call_id: callId, name, input, status: "completed" },
    },
  ],
  completed: (): object => ({
    type: "response.completed",
    response: {
      id: "resp_1",
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 10 },
        output_tokens: 20,
        output_tokens_details: { reasoning_tokens: 5 },
        total_tokens: 120,
      },
    },
  }),
  stream: (...items: readonly object[][]): string =>
    sse([{ type: "response.created", response: { id: "resp_1" } }, ...items.flat(), responses.completed()]),
};

/** Builds answers in the format of Chat Completions. Each text is one delta. */
export const chat = {
  delta: (delta: object, finish_reason: string | null = null): object => ({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason }],
  }),
  usage: (): object => ({
    choices: [],
    usage: {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 5 },
    },
  }),
  stream: (...deltas: readonly object[]): string =>
    sse([...deltas, chat.delta({}, "stop"), chat.usage()], "data: [DONE]\n\n"),
};

/** Builds answers in the format of Anthropic's Messages API. */
export const messages = {
  block: (index: number, content_block: object, ...deltas: readonly object[]): object[] => [
    { type: "content_block_start", index, content_block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ],
  text: (index: number, ...pieces: readonly string[]): object[] =>
    messages.block(
      index,
      { type: "text", text: "" },
      ...pieces.map((text) => ({ type: "text_delta", text })),
    ),
  thinking: (index: number, thinking: string, signature: string): object[] =>
    messages.block(
      index,
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking },
      { type: "signature_delta", signature },
    ),
  stream: (blocks: readonly object[][], stop_reason = "end_turn"): string =>
    sse([
      {
        type: "message_start",
        message: {
          id: "msg_1",
          usage: {
            input_tokens: 60,
            cache_read_input_tokens: 30,
            cache_creation_input_tokens: 10,
            output_tokens: 1,
          },
        },
      },
      { type: "ping" },
      ...blocks.flat(),
      { type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 20 } },
      { type: "message_stop" },
    ]),
};
