import { PATHS, underBase } from "../wire/index.ts";
import { noAnswerText } from "./discovery.ts";
import { type Answer, exchange, type RuntimePorts, readAnswer } from "./http-exchange.ts";
import type { ServerAddress } from "./server-address.ts";

/** A tool server that takes part in moving a session to another machine. */
export interface MigratingServer {
  /** Where the server is now. */
  readonly address: ServerAddress;
  /** `needsMigration` of the server's toolset. */
  readonly needsMigration: boolean;
  /** URL of the same tool server on the other machine, as this machine reaches it. */
  readonly destinationUrl: string;
}

/** The steps of moving a session that the host performs itself. */
export interface SessionMove {
  /** Id of the session's root thread. */
  readonly sessionId: string;
  /** The tool servers of the session. */
  readonly servers: readonly MigratingServer[];
  /** Stops the session's running turns. The first step. */
  stop(): Promise<void>;
  /** Copies the conversation to the other machine. Called after all tool servers have migrated. */
  transfer(): Promise<void>;
  /** Removes the session from this machine. The last step. */
  cleanUp(): Promise<void>;
}

/** Whether the session was moved, or which server prevented it. */
export type Moved =
  | { readonly kind: "moved" }
  /** A tool server failed to migrate. The session stays on this machine. */
  | { readonly kind: "failed"; readonly server: string; readonly says: string };

const REASON_BYTES = 4096;

/**
 * Moves a session to another machine in the order that the protocol prescribes. Only servers with `needsMigration` are
 * asked to migrate, all at once. If one of them fails, nothing is transferred.
 *
 * @example
 * const moved = await moveSession(move, ports, { timeoutMs: 600_000 });
 * if (moved.kind === "failed") console.error(`${moved.server}: ${moved.says}`);
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
  if (got.kind !== "answered") return { kind: "failed", server, says: noAnswerText(got) };
  const { status, reason } = got.value;
  if (status === 200) return { kind: "moved" };
  return { kind: "failed", server, says: `it answered with status ${status}${reason && `: ${reason}`}` };
}

async function reasonOf(answer: Answer): Promise<string> {
  const bytes = await readAnswer(answer, REASON_BYTES);
  return bytes === undefined ? "" : new TextDecoder().decode(bytes).trim();
}
