import { isAbsolute } from "node:path";
import type { ThreadReadState } from "@bobbin/protocol";
import { readStateOf } from "../../core/read-state/read-state-view.ts";
import { Fault, fault } from "../../errors.ts";
import { dropFrom, dropLast } from "../../history/rollback-points.ts";
import { allTurns } from "../../history/stored-turns.ts";
import { cursorsAt } from "../../history/turn-pages.ts";
import { accessOf, type HandlerContext, viewer } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import { checkHistoryItems } from "../params/check-history-items.ts";
import { refuseEphemeral } from "../params/non-ephemeral-thread.ts";
import { askedLoadSettings, askedSettings, settingsScope } from "../params/thread-settings.ts";
import { undoTurnFileChanges } from "../undo-turn-file-changes.ts";

const MAX_NAME = 1000;

/** Handlers that change a thread, loaded or not, without loading it. */
export function threadEditHandlers(context: HandlerContext): MethodHandlers {
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

    async "thread/readState/update"({ threadId, expectedRevision, operation }, { connection, reply }) {
      const command = { kind: "markRead", at: now(), expectedRevision, operation: operation.type } as const;
      let readState: ThreadReadState | null = null;
      // If the caller is a subscriber, it gets the notification before the reply.
      const edited = registry.edit(threadId, accessOf(connection), command, (state) => {
        readState = readStateOf(state);
      });
      await edited.catch((cause: unknown) => unreadable(cause, threadId));
      reply({ readState: readState! });
    },

    async "thread/metadata/update"({ threadId, gitInfo }, { connection, reply }) {
      // Null clears a value. A missing field leaves the value as it is.
      if (gitInfo == null) throw fault("noMetadata");
      const changes = Object.entries(gitInfo)
        .filter(([, value]) => value !== undefined)
        .map(([field, value]): [string, string | null] => [field, value?.trim() ?? null]);
      if (changes.length === 0) throw fault("nothingToUpdate");
      const empty = changes.find(([, value]) => value === "");
      if (empty !== undefined) throw fault("gitInfoEmpty", empty[0]);
      const access = accessOf(connection);
      await refuseEphemeral(registry, threadId, access, "ephemeralMetadata");
      const command = { kind: "changeGitInfo", at: now(), changes: Object.fromEntries(changes) } as const;
      const view = await viewer(context, connection);
      await registry.edit(threadId, access, command, (state, place) => {
        reply({ thread: view(state, place) });
      });
    },

    async "thread/settings/update"({ threadId, ...requested }, { connection, reply }) {
      const actor = await registry.find(threadId, accessOf(connection));
      const { settings } = await actor.peek();
      const changes = await askedSettings(requested, settings.cwd, settingsScope(context, connection));
      await actor.submit({ kind: "changeSettings", at: now(), changes }, () => reply({}));
    },

    async "thread/loadSettings/update"({ threadId, ...requested }, { connection, reply }) {
      const command = {
        kind: "changeLoadSettings",
        at: now(),
        changes: await context.sealed(askedLoadSettings(requested, settingsScope(context, connection))),
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
      const { kept: _, ...point } = await dropLast(actor.journal, numTurns);
      await actor.submit({ kind: "dropTurns", at: now(), by: "rollback", ...point });
      await actor.during(async (state) => {
        const view = await viewer(context, connection);
        reply({ thread: view(state, actor.journal.place, await allTurns(actor.journal)) });
      });
    },

    async "thread/files/restore"({ threadId, beforeTurnId, force, dryRun }, { connection, reply }) {
      const actor = await registry.find(threadId, accessOf(connection));
      const how = { force: force ?? false, dryRun: dryRun ?? false };
      reply(await undoTurnFileChanges(context, actor, beforeTurnId, how));
    },

    async "thread/revert"({ threadId, beforeTurnId, restoreFiles }, { connection, reply }) {
      await refuseEphemeral(registry, threadId, accessOf(connection), "ephemeralRevert");
      const actor = await registry.find(threadId, accessOf(connection));
      const { kept, ...point } = await dropFrom(actor.journal, beforeTurnId);
      // Dropping turns only appends a record. The remaining turns are known in advance, so the reply is prepared
      // before the write.
      const command = { kind: "dropTurns", at: now(), by: "revert", ...point } as const;
      const view = await viewer(context, connection);
      const { lastTurnId: turnId } = point;
      // A running turn is interrupted first, and clients are notified of its end before the reply. No other command
      // is processed in between. A turn that has just ended needs no interrupt.
      if (turnId !== null && actor.activeTurn === turnId)
        actor.offer({ kind: "interrupt", at: now(), turnId });
      const place = actor.journal.place;
      if (!restoreFiles) {
        await actor.submit(command, (state) => reply({ thread: view(state, place), ...cursorsAt(kept) }));
        return;
      }
      await actor.submit(command);
      // After a crash here the files stay as they are; `thread/files/restore` can restore them.
      const files = await undoTurnFileChanges(context, actor, beforeTurnId, { force: false, dryRun: false });
      reply({ thread: view(await actor.peek(), place), ...cursorsAt(kept), files });
    },

    async "thread/approveGuardianDeniedAction"({ threadId, event }, { connection, reply }) {
      const actor = await registry.find(threadId, accessOf(connection));
      const { id, status } = deniedReview(event);
      // Actions that were not denied need no approval.
      if (status !== "denied") return reply({});
      await actor.submit({ kind: "approveDenied", at: now(), reviewId: id }, () => reply({}));
    },

    async "thread/inject_items"({ threadId, items }, { connection, reply }) {
      if (items.length === 0) throw fault("nothingToInject");
      const actor = await registry.find(threadId, accessOf(connection));
      checkHistoryItems(items);
      await actor.submit({ kind: "injectItems", at: now(), items }, () => reply({}));
    },

    async "thread/prepareApprovedPlan"({ threadId, markdown, attachmentPath }, { connection, reply }) {
      if (attachmentPath != null && !isAbsolute(attachmentPath)) throw fault("planPathRelative");
      if (markdown.trim() === "") throw fault("planEmpty");
      const actor = await registry.find(threadId, accessOf(connection));
      const items = [approvedPlan(markdown)];
      checkHistoryItems(items);
      await actor.submit({ kind: "injectItems", at: now(), items }, () =>
        reply({ prompt: "Implement the plan." }),
      );
    },
  };
}

/**
 * The plan as the model reads it. A message, because APIs of models refuse what the Codex CLI sends: the output of a
 * function that was never called.
 */
function approvedPlan(markdown: string): object {
  const text = `The user approved this plan:\n\n<approved_plan>\n${markdown}\n</approved_plan>`;
  return { type: "message", role: "developer", content: [{ type: "input_text", text }] };
}

/** Replaces an error by the one that reading a thread gives: the thread is missing, or its ID is malformed. */
function unreadable(cause: unknown, threadId: string): never {
  if (!(cause instanceof Fault)) throw cause;
  if (cause.code === "invalidThreadId") throw new Fault("malformedThreadId", cause.message);
  throw cause.code === "noRollout" ? fault("threadNotLoaded", threadId) : cause;
}

/** The review that a client names. The denied action is read from the thread, because the client could change it. */
function deniedReview(event: unknown): { readonly id: string; readonly status: string } {
  if (typeof event !== "object" || event === null) throw fault("invalidDenial", "it is no object");
  const { id, status } = event as { readonly id?: unknown; readonly status?: unknown };
  if (typeof id !== "string" || id.length > MAX_NAME) throw fault("invalidDenial", "id is required");
  if (typeof status !== "string") throw fault("invalidDenial", "status is required");
  return { id, status };
}
