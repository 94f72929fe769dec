// A client of the package @bobbin/client on real hosts that die, and on connections that break.
import {
  type Bobbin,
  type ConnectionStatus,
  connect,
  connectWebSocket,
  currentItem,
  type FollowedThread,
  type Notification,
} from "@bobbin/client";
import { onTestFinished } from "vitest";
import WebSocket from "ws";
import { eventually } from "./eventually.ts";
import { freshFolder } from "./folder.ts";
import { type HostProcess, spawnHost } from "./host-process.ts";
import { MockModel, type Reply, responses, sse } from "./mock-model.ts";
import { modelHome } from "./model-home.ts";

const SOCKET = ["--listen", "ws://127.0.0.1:0"];
export const QUICK = { retry: { firstMs: 5, maxMs: 50 } };

/** Sockets that the test can break. */
class Wires {
  readonly sockets: WebSocket[] = [];
  /** Called with each text that was sent. */
  sent: (text: string, socket: WebSocket) => void = () => {};

  socketClass(): never {
    const opened = (socket: WebSocket) => this.sockets.push(socket);
    const sent = (text: string, socket: WebSocket) => this.sent(text, socket);
    return class extends WebSocket {
      constructor(url: string, protocols?: string[], options?: object) {
        super(url, protocols ?? [], options);
        opened(this);
      }

      override send(text: string) {
        super.send(text);
        sent(text, this);
      }
    } as never;
  }
}

/** Hosts on one home, one after the other, and a client that finds whichever there is. */
export class Stage {
  readonly wires = new Wires();
  readonly home: string;
  host: HostProcess;

  constructor(home: string, host: HostProcess) {
    this.home = home;
    this.host = host;
  }

  static async start(home?: string): Promise<Stage> {
    const place = home ?? (await freshFolder());
    return new Stage(place, await spawnHost({ home: place, args: SOCKET, env: { SHELL: "/bin/bash" } }));
  }

  async connect(options: Parameters<typeof connect>[1] = {}) {
    const open = async () => connectWebSocket(await this.host.url(), { WebSocket: this.wires.socketClass() });
    const bobbin = await connect(open, { ...QUICK, ...options });
    onTestFinished(() => bobbin.close());
    return bobbin;
  }

  async restart(): Promise<void> {
    await this.host.kill();
    this.host = await spawnHost({ home: this.home, args: SOCKET, env: { SHELL: "/bin/bash" } });
  }
}

/** A home whose threads talk to a local model that replies with these. */
export async function modelStage(replies: readonly Reply[], top: readonly string[] = []) {
  const model = await MockModel.start(...replies);
  const { home, cwd } = await modelHome("responses", model.url, { top });
  return { model, cwd, stage: await Stage.start(home) };
}

/** Says the first pieces of a message, waits until it is let go, and then says the rest. */
export function inTwoParts(first: string, rest: string): { reply: Reply; letGo: () => void } {
  let letGo!: () => void;
  const free = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const delta = (text: string) => ({
    type: "response.output_text.delta",
    item_id: "msg_1",
    output_index: 0,
    content_index: 0,
    delta: text,
  });
  const [added, ...end] = responses
    .message(first + rest)
    .filter(({ type }: { type?: string }) => !type?.includes("delta")) as object[];
  const reply: Reply = async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(sse([{ type: "response.created", response: { id: "r" } }, added!, delta(first)]));
    await free;
    response.end(sse([delta(rest), ...end, responses.completed()]));
  };
  return { reply, letGo };
}

/** Resolves when the connection is next in this state: polling could miss a state that passes quickly. */
export function reached(bobbin: Bobbin, state: ConnectionStatus["state"]): Promise<void> {
  return new Promise((resolve) => {
    const stop = bobbin.onConnection((status) => {
      if (status.state !== state) return;
      stop();
      resolve();
    });
  });
}

/** Everything that a thread's reader gets, while the test goes on. */
export function listen(thread: FollowedThread): Notification[] {
  const seen: Notification[] = [];
  void (async () => {
    for await (const notification of thread) seen.push(notification);
  })().catch(() => {});
  return seen;
}

export const cursorsOf = (seen: readonly Notification[]) =>
  seen.flatMap(({ params }) => ("cursor" in params && params.cursor != null ? [params.cursor] : []));

export const textOf = (seen: readonly Notification[]) =>
  seen.map(({ method, params }) => (method === "item/agentMessage/delta" ? params.delta : "")).join("");

/** What a client that comes now sees of the thread. */
export async function stateNow(stage: Stage, id: string) {
  const fresh = await (await stage.connect()).resumeThread(id);
  await eventually(() => !fresh.state.stale.queue, "all is read");
  return fresh.state;
}

/** The parts of a state that do not depend on how a client came to know them. */
export function told({ state }: Pick<FollowedThread, "state">) {
  const { turns, status, name, requests, queue, goal, tokenUsage } = state;
  return {
    status,
    name,
    requests,
    queue,
    goal,
    tokenUsage,
    turns: turns.map(({ plan: _plan, diff: _diff, ...turn }) => ({
      ...turn,
      items: turn.items.map((item) => ({ ...currentItem(state, item), completedAtMs: null })),
    })),
  };
}
