import { createHash } from "node:crypto";
import type { ThreadGrant } from "@bobbin/protocol";
import { type Permissions, permissionWords } from "./permissions.ts";

/** What people granted in a thread, as its state has it. */
export interface GrantedKeys {
  readonly grants: readonly string[];
  readonly grantTimes?: Readonly<Record<string, number>> | undefined;
  readonly turn: { readonly id: string } | null;
  readonly terminals: readonly { readonly processId: string }[];
}

/** The key of consent to write to a process, by its name in the thread. */
export function stdinGrant(processId: string): string {
  return `stdin ${processId}`;
}

/** The id of a grant, for clients. Equal keys have equal ids. */
function grantId(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 12);
}

/** The grants that count now, the oldest first, in words for people. */
export function listGrants({ grants, grantTimes = {}, turn, terminals }: GrantedKeys): ThreadGrant[] {
  return [...new Set(grants)].flatMap((key) => {
    const described = describe(key);
    // A grant for one turn ends with that turn, and one for a process with that process.
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

/** The key of a grant that is listed under an id. */
export function grantKey({ grants }: Pick<GrantedKeys, "grants">, id: string): string | undefined {
  return grants.find((key) => grantId(key) === id);
}

interface Described {
  readonly kind: ThreadGrant["kind"];
  readonly text: string;
  /** The only turn that it is for. */
  readonly turnId?: string | undefined;
}

/** A key in words. Journals may hold keys of other versions: they are shown as they are. */
function describe(key: string): Described {
  const space = key.indexOf(" ");
  const [kind, rest] = [key.slice(0, space), key.slice(space + 1)];
  switch (kind) {
    case "command":
      return { kind, text: command(parsed(rest)) ?? "Run a long command, of which only a digest is known" };
    case "stdin":
      return { kind, text: `Write input to the running command with session ID ${rest}` };
    case "patch": {
      const paths = words(parsed(rest));
      return paths === undefined ? other(key) : { kind, text: `Change ${paths.join(", ")} by patches` };
    }
    case "permissions":
      return permissions(parsed(rest)) ?? other(key);
    case "network": {
      const [protocol, address] = rest.split(" ");
      return { kind, text: `Connect to ${address} by ${protocol}` };
    }
    case "rap": {
      const [server, ...name] = rest.split(" ");
      return { kind: "tool", text: `Call the tool ${name.join(" ")} of the tool server ${server}` };
    }
    default:
      return other(key);
  }
}

function command(value: unknown): string | undefined {
  if (!Array.isArray(value)) return undefined;
  const [where, text, workdir, ...more] = value as unknown[];
  const shell = more.find((one) => typeof one === "string");
  const { network = false, write = [] } = (more.find((one) => typeof one === "object") ??
    {}) as Partial<Permissions>;
  const place = where === "outside" ? "outside of the sandbox" : "in the sandbox";
  const by = shell === undefined ? "" : `, by ${shell}`;
  const extra = permissionWords({ network, write });
  const allowing = extra === "" ? "" : `, and let it ${extra}`;
  return `Run this command ${place}, in ${workdir}${by}${allowing}: ${text}`;
}

function permissions(value: unknown): Described | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { network, write, turnId } = value as Record<string, unknown>;
  const what = permissionWords({ network: network === true, write: words(write) ?? [] });
  const text = `Let commands and patches ${what}`;
  return { kind: "permissions", text, ...(typeof turnId === "string" && { turnId }) };
}

function other(key: string): Described {
  return { kind: "other", text: key };
}

function words(value: unknown): string[] | undefined {
  return Array.isArray(value) && value.every((one) => typeof one === "string") ? value : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
