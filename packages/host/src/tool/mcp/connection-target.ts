import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { McpError } from "./mcp-interface.ts";
import type { McpServerSettings } from "./mcp-server-settings.ts";

/**
 * How to connect to a server: its configuration with all variables resolved, its working folder if it is a program, and
 * its roots.
 */
export interface McpTarget {
  readonly name: string;
  readonly transport: StdioTarget | HttpTarget;
  readonly startupTimeoutMs: number;
  /** Folders that the server gets when it asks for roots. */
  readonly roots: readonly string[];
}

export interface StdioTarget {
  readonly kind: "stdio";
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface HttpTarget {
  readonly kind: "http";
  readonly url: string;
  /** Includes a configured bearer token. */
  readonly headers: Readonly<Record<string, string>>;
  /** The program of `http_headers_helper`. */
  readonly helper: Omit<StdioTarget, "kind"> | null;
}

export interface TargetPlace {
  readonly cwd: string;
  readonly roots: readonly string[];
  /** The host's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Environment variables of the host that every server gets. */
const INHERITED = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];

/** Minimum length of a value that is treated as a secret. Shorter values may be ordinary words. */
const LEAST_SECRET = 8;

/** Removes the values of a program's own variables from its text, because they may be secrets. */
export function withoutSecrets({ env }: Pick<StdioTarget, "env">, text: string): string {
  const secrets = Object.entries(env)
    .filter(([name, value]) => !INHERITED.includes(name) && value.length >= LEAST_SECRET)
    .map(([, value]) => value);
  return secrets.reduce((words, secret) => words.replaceAll(secret, "[redacted]"), text);
}

/** Resolves the configuration. Throws an `McpError` if the variable with the bearer token is not set. */
export function targetOf(settings: McpServerSettings, { cwd, roots, env }: TargetPlace): McpTarget {
  const { name, transport, startupTimeoutMs } = settings;
  const inherited = picked(env, INHERITED);
  if (transport.kind === "stdio") {
    const { command, args, envVars } = transport;
    const place = resolve(cwd, transport.cwd ?? ".");
    const all = { ...inherited, ...picked(env, envVars), ...transport.env };
    return {
      name,
      startupTimeoutMs,
      roots,
      transport: { kind: "stdio", argv: [command, ...args], cwd: place, env: all },
    };
  }
  const { url, bearerTokenEnvVar, headersHelper } = transport;
  const headers: Record<string, string> = { ...transport.headers };
  for (const [header, variable] of Object.entries(transport.envHeaders)) {
    const value = env[variable];
    if (value !== undefined && value !== "") headers[header] = value;
  }
  if (bearerTokenEnvVar !== null) {
    const token = env[bearerTokenEnvVar];
    if (token === undefined || token === "")
      throw new McpError("unavailable", `the variable ${bearerTokenEnvVar} with its token is not set`, {
        isFinal: true,
      });
    headers.authorization = `Bearer ${token}`;
  }
  const helper =
    headersHelper === null ? null : { argv: ["/bin/sh", "-c", headersHelper] as const, cwd, env: inherited };
  return { name, startupTimeoutMs, roots, transport: { kind: "http", url, headers, helper } };
}

function picked(env: TargetPlace["env"], names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name): [string, string][] => {
      const value = env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** A digest that does not depend on the order of keys: equal values give equal digests. */
export function digestOf(value: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(sorted(value)))
    .digest("hex");
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [key, sorted(inner)]);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
