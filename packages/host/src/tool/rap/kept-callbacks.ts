import type { Files, Ids } from "../../platform/platform.ts";

/** What the home keeps: calls of today are answered after restarts of tomorrow. */
export interface KeptCallbacks {
  /** Callback URLs are signed with it. */
  readonly key: string;
  /** Ports that callback URLs were given out for. */
  readonly ports: readonly number[];
  /** Ports of hosts that share one of those with another: what comes for their threads is handed to them there. */
  readonly forwards: readonly number[];
}

/** Whoever changes the configuration again and again does not make every later host listen everywhere. */
const MAX_PORTS = 16;
const MAX_FORWARDS = 64;

/** Undefined: nothing is kept that could be used. */
export async function readCallbacks(files: Files, path: string): Promise<KeptCallbacks | undefined> {
  try {
    const text = (await files.readText(path)) ?? "";
    const { key, ports, forwards = [] } = JSON.parse(text) as Partial<KeptCallbacks>;
    if (typeof key !== "string" || key.length <= 40 || ports === undefined) return undefined;
    return { key, ports: ports.filter(isPort), forwards: forwards.filter(isPort) };
  } catch {
    return undefined;
  }
}

export async function writeCallbacks(files: Files, path: string, kept: KeptCallbacks): Promise<void> {
  const { key, ports, forwards } = kept;
  const bounded: KeptCallbacks = {
    key,
    ports: ports.slice(-MAX_PORTS),
    forwards: forwards.slice(-MAX_FORWARDS),
  };
  await files.replaceText(path, `${JSON.stringify(bounded)}\n`);
}

/** More bits than the hash has. */
export function newKey(ids: Ids): string {
  return Array.from({ length: 6 }, () => ids.integer().toString(36)).join("-");
}

function isPort(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) < 65_536;
}
