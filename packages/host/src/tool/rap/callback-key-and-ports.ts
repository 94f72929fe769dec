import type { Ids } from "../../platform/platform.ts";
import type { DocumentStore } from "../../store/documents.ts";
import { CALLBACKS } from "./rap-settings.ts";

/**
 * The key and the ports of callback URLs. They outlive hosts, because tool servers may answer a call after a restart.
 */
export interface CallbackKeyAndPorts {
  /** The key that signs callback URLs. */
  readonly key: string;
  /** Ports that appear in issued callback URLs. */
  readonly ports: readonly number[];
  /**
   * Private ports of hosts whose callback URLs contain another host's port. That other host forwards the callbacks to
   * these ports.
   */
  readonly forwards: readonly number[];
}

type Documents = Pick<DocumentStore, "read" | "replace">;

/**
 * Limits on the stored ports. Otherwise, after many changes of the configuration, later hosts would listen on all
 * ports that were ever used.
 */
const MAX_PORTS = 16;
const MAX_FORWARDS = 64;

/** Reads the document. Undefined if there is no usable one, or if it cannot be read. */
export async function readCallbacks(
  documents: Pick<Documents, "read">,
): Promise<CallbackKeyAndPorts | undefined> {
  const stored = await documents.read(CALLBACKS).catch(() => undefined);
  return parse(stored?.text);
}

/**
 * Changes the document. `change` gets the current content, and returns the same or undefined to change nothing. It is
 * called again if another host has changed the document in between. Resolves to what `change` returned last. Throws if
 * the document cannot be read: a new key would invalidate all callback URLs.
 */
export async function changeCallbacks<T extends CallbackKeyAndPorts | undefined>(
  documents: Documents,
  change: (before: CallbackKeyAndPorts | undefined) => T,
): Promise<T> {
  for (;;) {
    const stored = await documents.read(CALLBACKS);
    const before = parse(stored?.text);
    const after = change(before);
    if (after === undefined || after === before) return after;
    if (await documents.replace(CALLBACKS, textOf(after), stored?.version)) return after;
  }
}

/** A new random key with more bits than the hash. */
export function newKey(ids: Pick<Ids, "integer">): string {
  return Array.from({ length: 6 }, () => ids.integer().toString(36)).join("-");
}

function parse(text = ""): CallbackKeyAndPorts | undefined {
  try {
    const { key, ports, forwards = [] } = JSON.parse(text) as Partial<CallbackKeyAndPorts>;
    if (typeof key !== "string" || key.length <= 40 || ports === undefined) return undefined;
    return { key, ports: ports.filter(isPort), forwards: forwards.filter(isPort) };
  } catch {
    return undefined;
  }
}

function textOf({ key, ports, forwards }: CallbackKeyAndPorts): string {
  const bounded: CallbackKeyAndPorts = {
    key,
    ports: ports.slice(-MAX_PORTS),
    forwards: forwards.slice(-MAX_FORWARDS),
  };
  return `${JSON.stringify(bounded)}\n`;
}

function isPort(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) < 65_536;
}
