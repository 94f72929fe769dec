import type {
  Http,
  HttpAnswer,
  HttpHandler,
  HttpListener,
  HttpRequest,
  Listen,
} from "../../packages/host/src/platform/platform.ts";
import type { Owner, Scheduler } from "./scheduler.ts";

/** A request to a server outside of the hosts. */
export interface FakeRequest {
  /** The host that sent it. It may have died since. */
  readonly from: Owner;
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was sent.
  readonly body: any;
}

/** A reply; undefined stands for a connection that breaks without an answer. */
export interface FakeReply {
  readonly status: number;
  readonly json?: unknown;
}

export type FakeServer = (
  request: FakeRequest,
  raw: Pick<HttpRequest, "headers">,
) => Promise<FakeReply | undefined>;

interface Door {
  readonly handle: HttpHandler;
  readonly owner: Owner;
}

/** Servers that outlive hosts, and the listeners of hosts. A request and its answer are separate steps. */
export class FakeNetwork {
  /** By origin. */
  readonly servers = new Map<string, FakeServer>();
  /** Called in the step in which a host answers a callback, so that the host can die exactly then. */
  answered: (status: number, host: Owner) => void = () => {};
  readonly #doors = new Map<number, Door>();
  readonly #scheduler: Scheduler;
  #waiting: { readonly owner: Owner; readonly lose: () => void }[] = [];
  #requests = 0;
  #ports = 40_000;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  send(...[url, request, owner]: [...Parameters<Http>, Owner]): Promise<HttpAnswer> {
    const server = this.servers.get(url.origin) ?? this.#door(Number(url.port));
    const source = `request ${this.#requests++ % 16}`;
    return new Promise((resolve, reject) => {
      if (request.signal.aborted) return reject(request.signal.reason as Error);
      request.signal.addEventListener("abort", () => reject(request.signal.reason as Error), { once: true });
      const told = (tell: () => void): void => {
        this.#scheduler.post(source, `answer from ${url.pathname}`, tell, owner);
      };
      if (server === undefined) return told(() => reject(refused()));
      // A request that is on its way arrives, even if its sender is gone.
      this.#scheduler.post(source, `request to ${url.pathname}`, () => {
        void server(asked(url, request, owner), request).then((reply) => {
          told(() => (reply === undefined ? reject(broken()) : resolve(answered(reply))));
        });
      });
    });
  }

  /** The listener of another host of the same home, for forwarded callbacks; undefined if there is none. */
  #door(port: number): FakeServer | undefined {
    const door = this.#doors.get(port);
    if (!door?.owner.alive) return undefined;
    return ({ path, body }, { headers }) =>
      new Promise((resolve) => {
        this.#waiting.push({ owner: door.owner, lose: () => resolve(undefined) });
        void door.handle(incoming(path, body, headers)).then(({ status }) => resolve({ status }));
      });
  }

  async listen(...[{ port }, handle, owner]: [...Parameters<Listen>, Owner]): Promise<HttpListener> {
    const own = port === 0 ? ++this.#ports : port;
    if (this.#doors.get(own)?.owner.alive) throw Object.assign(new Error("in use"), { code: "EADDRINUSE" });
    const door = { handle, owner };
    this.#doors.set(own, door);
    return {
      port: own,
      close: async () => {
        if (this.#doors.get(own) === door) this.#doors.delete(own);
      },
    };
  }

  /** Posts to a host's listener. Resolves with the status and the host, or undefined if there is no answer. */
  post(
    url: string,
    message: unknown,
    more: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; by: Owner } | undefined> {
    const { port, pathname } = new URL(url);
    const source = `callback ${this.#requests++ % 16}`;
    return new Promise((resolve) => {
      this.#scheduler.post(source, "callback", () => {
        const door = this.#doors.get(Number(port));
        if (!door?.owner.alive) return resolve(undefined);
        let waits = true;
        const told = (status: number | undefined): void => {
          if (!waits) return;
          waits = false;
          const answer = status === undefined ? undefined : { status, by: door.owner };
          this.#scheduler.post(source, `callback: ${status}`, () => resolve(answer));
        };
        this.#waiting.push({ owner: door.owner, lose: () => told(undefined) });
        void door.handle(incoming(pathname, message, more)).then(({ status }) => {
          if (!door.owner.alive) return;
          told(status);
          this.answered(status, door.owner);
        });
      });
    });
  }

  /** A host has died: requests to it get no answer. */
  drop(owner: Owner): void {
    for (const one of this.#waiting) if (one.owner === owner) one.lose();
    this.#waiting = this.#waiting.filter((one) => one.owner !== owner);
  }
}

function asked(url: URL, { body }: HttpRequest, from: Owner): FakeRequest {
  return { from, path: url.pathname, body: body === undefined ? undefined : JSON.parse(body) };
}

function answered({ status, json }: FakeReply): HttpAnswer {
  const bytes = new TextEncoder().encode(json === undefined ? "" : JSON.stringify(json));
  const headers = new Headers({
    "content-type": "application/json",
    "content-length": String(bytes.length),
  });
  return {
    status,
    headers,
    body: (async function* () {
      if (bytes.length > 0) yield bytes;
    })(),
  };
}

function incoming(
  path: string,
  message: unknown,
  more: Readonly<Record<string, string>>,
): Parameters<HttpHandler>[0] {
  return {
    method: "POST",
    path,
    query: "",
    headers: new Headers({ "content-type": "application/json", ...more }),
    body: (async function* () {
      yield new TextEncoder().encode(JSON.stringify(message));
    })(),
  };
}

function refused(): Error {
  return Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
}

function broken(): Error {
  return Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
}
