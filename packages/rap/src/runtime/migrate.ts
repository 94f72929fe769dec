import { PATHS, underBase } from "../wire/index.ts";
import type { ServerAddress } from "./address.ts";
import { noAnswer } from "./discovery.ts";
import { type Answer, exchange, type RuntimePorts, readAnswer } from "./http.ts";

/** A tool server of a session that moves. */
export interface MigratingServer {
  readonly address: ServerAddress;
  /** As its toolset says. */
  readonly needsMigration: boolean;
  /** Where the same server is on the other machine, as this one can reach it. */
  readonly destinationUrl: string;
}

/** What moving a session takes, besides what tool servers do. */
export interface SessionMove {
  /** The session's root thread. */
  readonly sessionId: string;
  readonly servers: readonly MigratingServer[];
  /** Ends what runs of the session: first of all. */
  stop(): Promise<void>;
  /** Takes the conversation to the other machine, where tool servers have what is theirs by now. */
  transfer(): Promise<void>;
  /** Ends the session here: last of all. */
  cleanUp(): Promise<void>;
}

export type Moved =
  | { readonly kind: "moved" }
  /** It stays where it was. */
  | { readonly kind: "failed"; readonly server: string; readonly says: string };

const REASON_BYTES = 4096;

/**
 * Moves a session in the order that the protocol gives. Servers that do not need it are not asked; if one fails, nothing
 * is transferred.
 *
 * @example
 * const moved = await moveSession(move, ports, { timeoutMs: 600_000 });
 * if (moved.kind === "failed") tell(`${moved.server}: ${moved.says}`);
 */
export async function moveSession(
  move: SessionMove,
  ports: RuntimePorts,
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<Moved> {
  await move.stop();
  const needing = move.servers.filter(({ needsMigration }) => needsMigration);
  const ended = await Promise.all(needing.map((server) => migrate(server, move.sessionId, ports, timeoutMs)));
  const failed = ended.find(({ kind }) => kind === "failed");
  if (failed !== undefined) return failed;
  await move.transfer();
  await move.cleanUp();
  return { kind: "moved" };
}

async function migrate(
  { address, destinationUrl }: MigratingServer,
  sessionId: string,
  ports: RuntimePorts,
  timeoutMs: number,
): Promise<Moved> {
  const got = await exchange(
    ports,
    new URL(underBase(address.url, PATHS.migrate)),
    {
      method: "POST",
      headers: { ...address.headers, "content-type": "application/json" },
      body: JSON.stringify({ session_id: sessionId, destination_url: destinationUrl }),
    },
    timeoutMs,
    async (answer) => ({ status: answer.status, reason: await reasonOf(answer) }),
  );
  const { name: server } = address;
  if (got.kind !== "answered") return { kind: "failed", server, says: noAnswer(got) };
  const { status, reason } = got.value;
  if (status === 200) return { kind: "moved" };
  return { kind: "failed", server, says: `it answered with status ${status}${reason && `: ${reason}`}` };
}

async function reasonOf(answer: Answer): Promise<string> {
  const bytes = await readAnswer(answer, REASON_BYTES);
  return bytes === undefined ? "" : new TextDecoder().decode(bytes).trim();
}
