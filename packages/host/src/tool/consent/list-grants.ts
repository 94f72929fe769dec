import { createHash } from "node:crypto";
import type { ThreadGrant } from "@bobbin/protocol";
import { parsedKey, textsOf } from "./parse-grant-key.ts";
import { permissionWords } from "./permissions.ts";

/** The parts of a thread's state that contain its grants. */
export interface GrantedKeys {
  readonly grants: readonly string[];
  readonly grantTimes?: Readonly<Record<string, number>> | undefined;
  readonly turn: { readonly id: string } | null;
  readonly terminals: readonly { readonly processId: string }[];
}

/** The grant key of writing input to a background terminal. */
export function stdinGrant(processId: string): string {
  return `stdin ${processId}`;
}

/** The ID of a grant for clients. Equal keys give equal IDs. */
function grantId(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 12);
}

/** The grants in force, in the order in which they were first given, described for users. */
export function listGrants({ grants, grantTimes = {}, turn, terminals }: GrantedKeys): ThreadGrant[] {
  return [...new Set(grants)].flatMap((key) => {
    const described = describe(key);
    // A grant for one turn ends with the turn, a grant for a process with the process.
    if (described.turnId !== undefined && described.turnId !== turn?.id) return [];
    if (described.kind === "stdin" && !terminals.some(({ processId }) => stdinGrant(processId) === key))
      return [];
    return [
      {
        id: grantId(key),
        kind: described.kind,
        description: described.text,
        scope: described.turnId === undefined ? "session" : "turn",
        grantedAtMs: grantTimes[key] ?? null,
      },
    ];
  });
}

/** The key of the grant with this ID; undefined if there is none. */
export function grantKey({ grants }: Pick<GrantedKeys, "grants">, id: string): string | undefined {
  return grants.find((key) => grantId(key) === id);
}

interface Described {
  readonly kind: ThreadGrant["kind"];
  readonly text: string;
  /** The turn that the grant is limited to; undefined if it applies to all turns. */
  readonly turnId?: string | undefined;
}

/** Describes a grant key for users. A key of an unknown kind is shown unchanged. */
function describe(key: string): Described {
  const space = key.indexOf(" ");
  const [kind, rest] = [key.slice(0, space), key.slice(space + 1)];
  switch (kind) {
    case "command":
      return {
        kind,
        text: command(parsedKey(rest)) ?? "Run a long command, of which only a digest is known",
      };
    case "stdin":
      return { kind, text: `Write input to the running command with session ID ${rest}` };
    case "patch": {
      const paths = textsOf(parsedKey(rest));
      return paths === undefined ? other(key) : { kind, text: `Change ${paths.join(", ")} by patches` };
    }
    case "permissions":
      return permissions(parsedKey(rest)) ?? other(key);
    case "network": {
      const [protocol, address] = rest.split(" ");
      return { kind, text: `Connect to ${address} by ${protocol}` };
    }
    case "rap": {
      const [server, ...name] = rest.split(" ");
      return { kind: "tool", text: `Call the tool ${name.join(" ")} of the tool server ${server}` };
    }
    case "mcp": {
      const [server, tool] = textsOf(parsedKey(rest)) ?? [];
      if (server === undefined || tool === undefined) return other(key);
      return { kind: "tool", text: `Call the tool ${tool} of the MCP server ${server}` };
    }
    case "mcpSampling":
      return { kind: "tool", text: `Let the MCP server ${rest} use the model of this thread` };
    default:
      return other(key);
  }
}

function command(value: unknown): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const [where, text, workdir, ...more] = value as unknown[];
  const shell = more.find((one) => typeof one === "string");
  const { network, write } = (more.find((one) => typeof one === "object") ?? {}) as Record<string, unknown>;
  const place = where === "outside" ? "outside of the sandbox" : "in the sandbox";
  const by = shell === undefined ? "" : `, by ${shell}`;
  const extra = permissionWords({ network: network === true, write: textsOf(write) ?? [] });
  const allowing = extra === "" ? "" : `, and let it ${extra}`;
  return `Run this command ${place}, in ${workdir}${by}${allowing}: ${text}`;
}

function permissions(value: unknown): Described | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { network, write, turnId } = value as Record<string, unknown>;
  const what = permissionWords({ network: network === true, write: textsOf(write) ?? [] });
  const text = `Let commands and patches ${what}`;
  return { kind: "permissions", text, ...(typeof turnId === "string" && { turnId }) };
}

function other(key: string): Described {
  return { kind: "other", text: key };
}
