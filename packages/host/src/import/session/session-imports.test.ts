import { expect, it } from "vitest";
import { fault } from "../../errors.ts";
import type { ItemResult } from "../item-result.ts";
import type { Session } from "./session-events.ts";
import type { SessionReader } from "./session-files.ts";
import { importSessions } from "./session-imports.ts";
import type { SessionThreadPorts } from "./thread-from-session.ts";

/** The results of an import of one session whose thread cannot be stored, because of `cause`. */
async function importRefusedBy(cause: Error): Promise<readonly ItemResult[]> {
  const session: Session = {
    head: {
      threadId: "t",
      startedAt: 1,
      cwd: "/",
      source: "cli",
      originator: null,
      cliVersion: "1",
      forkedFromId: null,
      gitInfo: null,
      model: null,
      modelProvider: null,
      archived: false,
    },
    events: (async function* () {})(),
  };
  const files = { open: async () => session } as unknown as SessionReader;
  const ports = {
    journal: { bring: () => Promise.reject(cause) },
    owner: "local",
    now: () => 1,
    settings: async () => ({ cwd: "/" }),
  } as unknown as SessionThreadPorts;
  const results: ItemResult[] = [];
  await importSessions(files, ["/s.jsonl"], ports, new AbortController().signal, (one) => results.push(one));
  return results;
}

it("reports a session whose thread cannot be stored", async () => {
  const [result] = await importRefusedBy(fault("storageFailed", "no room"));
  expect(result!.failures).toMatchObject([{ source: "/s.jsonl" }]);
});

it("leaves a session to the host that has its thread, as when two imports run at once", async () => {
  const [result] = await importRefusedBy(fault("heldElsewhere", "t", "host"));
  expect(result!.failures).toEqual([]);
});
