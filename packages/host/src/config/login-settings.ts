import { ConfigError } from "./bad-config-error.ts";
import { list, oneOf, subtable, type Table, text, wholeWithin } from "./table-reader.ts";

/** How people log in to the account that pays for OpenAI's models. */
export interface LoginSettings {
  /** URL of the authorization server. */
  readonly issuer: string;
  /** OAuth client id of this program at the authorization server. */
  readonly clientId: string;
  /** Local ports for the browser's redirect, tried in this order. 0 is any free port. */
  readonly callbackPorts: readonly number[];
  /** `forced_login_method`: the only allowed way to log in; null if both are allowed. */
  readonly forcedMethod: "api" | "chatgpt" | null;
  /** The ChatGPT workspaces that a login may be for; null for any. */
  readonly workspaces: readonly string[] | null;
  /** Base URL of the service that accepts access tokens of ChatGPT accounts. */
  readonly chatgptBaseUrl: string;
}

export const OPENAI_ISSUER = "https://auth.openai.com";
const OPENAI_CLIENT = "app_EMoamEEZ73f0CkXaXp7hrann";
/** The redirect ports that are registered for this client. */
const OPENAI_PORTS = [1455, 1457];
const CHATGPT_URL = "https://chatgpt.com/backend-api/";

export function readLogin(table: Table): LoginSettings {
  const login = subtable(table, "login") ?? {};
  const issuer = text(login, "issuer", "login.");
  const port = wholeWithin(login, "callback_port", 0, 65_535, "login.");
  return {
    issuer: address("login.issuer", issuer ?? OPENAI_ISSUER).replace(/\/+$/, ""),
    clientId: text(login, "client_id", "login.") ?? OPENAI_CLIENT,
    callbackPorts: port !== undefined ? [port] : issuer === undefined ? OPENAI_PORTS : [0],
    forcedMethod: oneOf(table, "forced_login_method", ["api", "chatgpt"]) ?? null,
    workspaces: workspaces(table),
    chatgptBaseUrl: address("chatgpt_base_url", text(table, "chatgpt_base_url") ?? CHATGPT_URL),
  };
}

/** `forced_chatgpt_workspace_id` is one id or a list of ids. */
function workspaces(table: Table): readonly string[] | null {
  const key = "forced_chatgpt_workspace_id";
  const all = Array.isArray(table[key]) ? list(table, key) : [text(table, key) ?? ""];
  const named = (all ?? []).map((id) => id.trim()).filter((id) => id !== "");
  return named.length === 0 ? null : named;
}

/** Validates a URL to which tokens are sent. Only https is accepted, and http on loopback. */
function address(key: string, url: string): string {
  if (URL.canParse(url)) {
    const { protocol, hostname } = new URL(url);
    if (protocol === "https:") return url;
    if (protocol === "http:" && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) return url;
  }
  throw new ConfigError(`${key}: expected an https:// address, found ${JSON.stringify(url)}`);
}
