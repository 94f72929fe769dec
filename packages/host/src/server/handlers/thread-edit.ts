import { fault } from "../../errors.ts";
import type { JournalReader } from "../../journal/journal.ts";
import { allTurns, type StoredTurn, turnsBackwards } from "../../thread/history.ts";
import type { Handlers } from "../call.ts";
import { accessOf, type HandlerContext, viewer } from "./context.ts";
import { checkHistoryItems } from "./history-items.ts";
import { refuseEphemeral } from "./lasting-thread.ts";
import { restoreBefore } from "./restore-files.ts";
import { askedLoadSettings, askedSettings, settingsScope } from "./settings.ts";
import { cursorsAt } from "./turn-pages.ts";

const MAX_NAME = 1000;

/** Changing a thread, loaded or not; one that is not stays so. */
export function threadEditHandlers(context: HandlerContext): Handlers {
  const { registry, platform } = context;
  const now = () => platform.clock.now();
  return {
    async "thread/name/set"({ threadId, name }, { connection, reply }) {
      const trimmed = name.trim();
      if (trimmed === "") throw fault("emptyName");
      if (trimmed.length > MAX_NAME) throw fault("nameTooLong", MAX_NAME);
      const access = accessOf(connection);
      await refuseEphemeral(registry, threadId, access, "ephemeralMetadata");
      const command = { kind: "rename", at: now(), name: trimmed } as const;
      await registry.edit(threadId, access, command, () => reply({}));
    },

    async "thread/metadata/update"({ threadId, gitInfo }, { connection, reply }) {
      // Null clears a value; what is not named stays.
      if (gitInfo == null) throw fault("noMetadata");
      const given = Object.entries(gitInfo)
        .filter(([, value]) => value !== undefined)
        .map(([field, value]): [string, string | null] => [field, value?.trim() ?? null]);
      if (given.length === 0) throw fault("nothingToUpdate");
      const empty = given.find(([, value]) => value === "");
      if (empty !== undefined) throw fault("gitInfoEmpty", empty[0]);
      const access = accessOf(connection);
      await refuseEphemeral(registry, threadId, access, "ephemeralMetadata");
      const command = { kind: "changeGitInfo", at: now(), changes: Object.fromEntries(given) } as const;
      const view = await viewer(context, connection);
      await registry.edit(threadId, access, command, (state, place) => {
        reply({ thread: view(state, place) });
      });
    },

    async "thread/settings/update"({ threadId, ...asked }, { connection, reply }) {
      const actor = await registry.find(threadId, accessOf(connection));
      const { settings } = await actor.peek();
      const changes = await askedSettings(asked, settings.cwd, settingsScope(context, connection));
      await actor.submit({ kind: "changeSettings", at: now(), changes }, () => reply({}));
    },

    async "thread/loadSettings/update"({ threadId, ...asked }, { connection, reply }) {
      const command = {
        kind: "changeLoadSettings",
        at: now(),
        changes: askedLoadSettings(asked, settingsScope(context, connection)),
      } as const;
      await registry.edit(threadId, accessOf(connection), command, (state) => {
        reply({ pending: state.pendingLoad ?? {} });
      });
    },

    async "thread/memoryMode/set"({ threadId, mode }, { connection, reply }) {
      const access = accessOf(connection);
      await refuseEphemeral(registry, threadId, access, "ephemeralMetadata");
      const command = { kind: "changeLoadSettings", at: now(), changes: { memoryMode: mode } } as const;
      await registry.edit(threadId, access, command, () => reply({}));
    },

    async "thread/rollback"({ threadId, numTurns }, { connection, reply }) {
      const actor = await registry.find(threadId, accessOf(connection));
      const { kept: _, ...point } = await afterDropping(actor.journal, numTurns);
      await actor.submit({ kind: "dropTurns", at: now(), by: "rollback", ...point });
      await actor.during(async (state) => {
        const view = await viewer(context, connection);
        reply({ thread: view(state, actor.journal.place, await allTurns(actor.journal)) });
      });
    },

    async "thread/files/restore"({ threadId, beforeTurnId, force }, { connection, reply }) {
      const actor = await registry.find(threadId, accessOf(connection));
      reply(await restoreBefore(context, actor, beforeTurnId, force ?? false));
    },

    async "thread/revert"({ threadId, beforeTurnId, restoreFiles }, { connection, reply }) {
      await refuseEphemeral(registry, threadId, accessOf(connection), "ephemeralRevert");
      const actor = await registry.find(threadId, accessOf(connection));
      const { kept, ...point } = await before(actor.journal, beforeTurnId);
      // Dropping is a marker, so what will be left can be read before it is written: the reply is ready then.
      const command = { kind: "dropTurns", at: now(), by: "revert", ...point } as const;
      const view = await viewer(context, connection);
      const { lastTurnId: turnId } = point;
      // A turn that runs goes, too, and its end is told before the reply. Nothing comes between the two commands; one
      // that has just ended by itself needs no interrupt.
      if (turnId !== null && actor.activeTurn === turnId)
        actor.offer({ kind: "interrupt", at: now(), turnId });
      const place = actor.journal.place;
      if (!restoreFiles) {
        await actor.submit(command, (state) => reply({ thread: view(state, place), ...cursorsAt(kept) }));
        return;
      }
      await actor.submit(command);
      // A host that dies in between leaves the files as they are: they can be restored by their own method.
      const files = await restoreBefore(context, actor, beforeTurnId, false);
      reply({ thread: view(await actor.peek(), place), ...cursorsAt(kept), files });
    },

    async "thread/approveGuardianDeniedAction"({ threadId, event }, { connection, reply }) {
      const actor = await registry.find(threadId, accessOf(connection));
      const { id, status } = deniedReview(event);
      // What was not denied needs no approval.
      if (status !== "denied") return reply({});
      await actor.submit({ kind: "approveDenied", at: now(), reviewId: id }, () => reply({}));
    },

    async "thread/inject_items"({ threadId, items }, { connection, reply }) {
      if (items.length === 0) throw fault("nothingToInject");
      const actor = await registry.find(threadId, accessOf(connection));
      checkHistoryItems(items);
      await actor.submit({ kind: "injectItems", at: now(), items }, () => reply({}));
    },
  };
}

/** The review that a client names. What was denied is taken from the thread, not from the client. */
function deniedReview(event: unknown): { readonly id: string; readonly status: string } {
  if (typeof event !== "object" || event === null) throw fault("invalidDenial", "it is no object");
  const { id, status } = event as { readonly id?: unknown; readonly status?: unknown };
  if (typeof id !== "string" || id.length > MAX_NAME) throw fault("invalidDenial", "id is required");
  if (typeof status !== "string") throw fault("invalidDenial", "status is required");
  return { id, status };
}

interface DropPoint {
  readonly keepThrough: string | null;
  /** Newest first. */
  readonly dropped: readonly string[];
  readonly lastTurnId: string | null;
  readonly kept: StoredTurn | undefined;
}

/** What is left when the turns at the end go for which `goes` says so; all of them may. */
async function dropPoint(journal: JournalReader, goes: (turnId: string) => boolean): Promise<DropPoint> {
  const dropped: string[] = [];
  let kept: StoredTurn | undefined;
  for await (const stored of turnsBackwards(journal)) {
    if (goes(stored.turn.id)) {
      dropped.push(stored.turn.id);
      continue;
    }
    kept = stored;
    break;
  }
  return {
    keepThrough: kept?.turn.id ?? null,
    dropped,
    lastTurnId: dropped[0] ?? kept?.turn.id ?? null,
    kept,
  };
}

/** The last `count` turns go. */
function afterDropping(journal: JournalReader, count: number): Promise<DropPoint> {
  let left = count;
  return dropPoint(journal, () => left-- > 0);
}

/** A turn and all after it go. */
async function before(journal: JournalReader, turnId: string): Promise<DropPoint> {
  let found = false;
  const point = await dropPoint(journal, (id) => {
    if (found) return false;
    found = id === turnId;
    return true;
  });
  if (!found) throw fault("turnNotFound", turnId);
  return point;
}
