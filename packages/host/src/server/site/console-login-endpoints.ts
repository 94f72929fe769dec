import type { IncomingMessage } from "node:http";
import type { Authenticate } from "../listen/authenticate.ts";
import type { Refusal } from "../listen/http-refusal.ts";
import type { ConsoleLogin } from "./console-login.ts";
import { readJsonBody } from "./json-body.ts";

export interface ConsoleLoginOptions {
  /** Missing on listeners without authentication, which need no ticket. */
  readonly consoleLogin?: ConsoleLogin;
  readonly authenticate?: Authenticate;
  /** Returns the console's address with a fresh token. Only on sockets that only the host's own user can open. */
  readonly openConsole?: () => string | undefined;
  /** Refuses processes that the host has started, and on a listener without authentication those of other users. */
  readonly checkCaller?: (request: IncomingMessage) => Promise<Refusal | undefined>;
}

export const CONSOLE_LOGIN_PATHS: ReadonlySet<string> = new Set(["/session", "/ticket", "/open"]);

/** Answers `POST /session`, `/ticket` and `/open`. */
export async function answerConsoleLogin(
  options: ConsoleLoginOptions,
  path: string,
  request: IncomingMessage,
): Promise<object | Refusal> {
  const foreign = await options.checkCaller?.(request);
  if (foreign) return foreign;
  const read = await readJsonBody(request);
  if ("status" in read) return read;
  const { body } = read;
  switch (path) {
    case "/session":
      return options.consoleLogin === undefined ? NOT_NEEDED : session(options.consoleLogin, body);
    case "/ticket":
      return options.consoleLogin === undefined
        ? NOT_NEEDED
        : ticket(options, options.consoleLogin, request, body);
    default:
      return opened(options);
  }
}

function session(consoleLogin: ConsoleLogin, { token }: Readonly<Record<string, unknown>>): object | Refusal {
  if (typeof token !== "string") return bad("token is required: the text behind #token= in the link");
  return consoleLogin.redeem(token);
}

function ticket(
  { authenticate }: ConsoleLoginOptions,
  consoleLogin: ConsoleLogin,
  request: IncomingMessage,
  body: Readonly<Record<string, unknown>>,
): object | Refusal {
  const who = authenticate?.(request.headers.authorization);
  if (who === undefined) return NOT_NEEDED;
  if ("status" in who) return who;
  const own = request.headers.origin;
  const { origin = own } = body;
  if (typeof origin !== "string")
    return bad("origin is required: the origin of the page that will open the WebSocket");
  // A page gets tickets for itself. A backend, which sends no `Origin`, gets tickets for its page.
  if (own !== undefined && own !== origin) return bad("origin must be that of the request");
  const issued = consoleLogin.issueTicket(who.principal, origin);
  return "status" in issued ? issued : { ticket: issued.ticket, expiresInMs: issued.ms };
}

function opened({ openConsole }: ConsoleLoginOptions): object | Refusal {
  if (openConsole === undefined)
    return {
      status: 403,
      code: "notPermitted",
      message: "links to the console are made on a Unix socket of the host only",
    };
  const url = openConsole();
  if (url !== undefined) return { url };
  return {
    status: 404,
    code: "noConsole",
    message: "this host has no address for browsers; start it with --listen ws://127.0.0.1:4545",
  };
}

const NOT_NEEDED: Refusal = {
  status: 404,
  code: "notNeeded",
  message: "this listener has no authentication: connect without a session and without a ticket",
};

function bad(message: string): Refusal {
  return { status: 400, code: "badRequest", message };
}
