import type { NotificationParams, Result } from "@bobbin/protocol";
import { Encoded } from "@bobbin/rpc";
import type { ThreadFacts } from "../../core/life/records.ts";
import { activeProfile, threadView } from "../../core/life/views.ts";
import type { ThreadState } from "../../core/state.ts";
import { Fault, fault } from "../../errors.ts";
import type { JournalReader } from "../../journal/journal.ts";
import { forkHistory } from "../../thread/fork.ts";
import { allTurns } from "../../thread/history.ts";
import type { LoadRequest } from "../../thread/registry.ts";
import { type Cursor, parseCursor } from "../../thread/subscription.ts";
import { LookAround } from "../../thread/surroundings.ts";
import { PEER_VERSION } from "../../version.ts";
import { ownerOf } from "../authorize.ts";
import type { Handlers } from "../call.ts";
import type { Connection } from "../connection.ts";
import { accessOf, type HandlerContext, viewer } from "./context.ts";
import { askedLoadSettings, askedSettings, configured, newSettings } from "./settings.ts";
import { tellGoal } from "./thread-goal.ts";
import { startCursors, turnsPage } from "./turn-pages.ts";

/** How a thread comes to be loaded: started, resumed, forked. Each makes the connection follow it. */
export function threadLoadHandlers(context: HandlerContext): Handlers {
  const { registry, keyedStarts, platform, idle } = context;
  const around = new LookAround(platform.files, context.home);
  const projectDocs = async (cwd: string) => (await around.at(cwd)).docs;
  const asItWas: LoadRequest = { changes: () => ({}), load: {}, docs: projectDocs };
  return {
    async "thread/start"(params, { connection, reply }) {
      const settings = newSettings(params, context);
      const { gitInfo, docs } = await around.at(settings.cwd);
      const ephemeral = params.ephemeral ?? false;
      const load = askedLoadSettings(params, context.config);
      const start = (more: Partial<ThreadFacts> = {}) => {
        const facts = newFacts(context, connection, {
          ephemeral,
          serviceName: params.serviceName ?? null,
          threadSource: params.threadSource ?? null,
          ...more,
        });
        return registry.start({ facts, settings, load, docs, gitInfo });
      };
      const { actor, again } =
        params.idempotencyKey == null
          ? { actor: await start(), again: false }
          : await keyedStarts.run({
              owner: ownerOf(connection.meta.principal),
              key: params.idempotencyKey,
              ephemeral,
              threadId: platform.ids.uuid(),
              start: (id, startKey) => start({ id, startKey }),
              load: async (id) => (await registry.load(id, accessOf(connection, id), asItWas)).actor,
            });
      if (again) {
        await actor.during(async (state) => {
          const thread = (await viewer(context, connection))(state, actor.journal.place);
          reply({ thread, ...loadedView(state) });
          idle.follow(actor, connection);
        });
        return actor.goOn();
      }
      const state = await actor.peek();
      idle.follow(actor, connection);
      const thread = Encoded.of(threadView(state, actor.journal.place));
      reply(Encoded.with<Result<"thread/start">, "thread">(loadedView(state), "thread", thread));
      registry.announce(
        actor,
        "thread/started",
        Encoded.with<NotificationParams<"thread/started">, "thread">({}, "thread", thread),
      );
    },

    async "thread/resume"(params, { connection, reply }) {
      const { actor, cold } = await registry.load(params.threadId, accessOf(connection, params.threadId), {
        changes: (now) => ({ ...configured(params.config), ...askedSettings(params, now.cwd, context) }),
        load: askedLoadSettings(params, context.config),
        docs: projectDocs,
        replayed: params.afterCursor == null ? undefined : connection,
      });
      // In the thread's mailbox: what the reply shows and what is told after it have no gap between them.
      const followed = actor.during(async (state) => {
        const { journal } = actor;
        const replay = await replayPoint(journal, params.afterCursor);
        const turns = params.excludeTurns ? [] : await allTurns(journal);
        const page =
          params.initialTurnsPage == null ? null : await turnsPage(journal, params.initialTurnsPage);
        const cursors = await startCursors(journal);
        const thread = (await viewer(context, connection))(state, journal.place, turns);
        reply({
          thread,
          ...loadedView(state),
          collaborationMode: null,
          initialTurnsPage: page,
          ...cursors,
          ...(replay && { replay: { gap: replay.gap } }),
        });
        if (cold || !params.excludeTurns) tellUsage(connection, state);
        tellGoal(connection, state);
        idle.follow(actor, connection, replay?.cursor);
      });
      await followed.finally(() => idle.refused(actor, connection.unloadDelayMs));
      if (!cold) actor.offer({ kind: "takeUpGoal", at: platform.clock.now() });
      actor.goOn();
    },

    async "thread/fork"(params, { connection, reply }) {
      if (params.lastTurnId != null && params.beforeTurnId != null) throw fault("twoForkPoints");
      if (params.deferGoalContinuation && params.ephemeral) throw fault("deferredEphemeral");
      const access = accessOf(connection, params.threadId);
      const forked = registry.read(params.threadId, access, async (journal, from) => {
        if (journal.place.archived) throw fault("archived", from.facts.id);
        const facts = newFacts(context, connection, {
          ephemeral: params.ephemeral ?? false,
          serviceName: from.facts.serviceName,
          threadSource: params.threadSource ?? from.facts.threadSource,
          forkedFromId: from.facts.id,
        });
        const changes = {
          ...configured(params.config),
          ...askedSettings(params, from.settings.cwd, context),
        };
        const settings = { ...from.settings, ...changes };
        const load = { ...from.load, ...askedLoadSettings(params, context.config) };
        const docs = await projectDocs(settings.cwd);
        const actor = await registry.start({
          facts,
          settings,
          load,
          docs,
          history: forkHistory(journal, from, params),
        });
        const state = await actor.peek();
        const turns = params.excludeTurns ? [] : await allTurns(actor.journal);
        idle.follow(actor, connection);
        const thread = threadView(state, actor.journal.place);
        reply({ thread: { ...thread, turns }, ...loadedView(state) });
        if (!params.excludeTurns) tellUsage(connection, state);
        if (state.goal !== null) tellGoal(connection, state);
        registry.announce(actor, "thread/started", { thread });
      });
      await forked.catch((cause: unknown) => {
        // What can not be read can not be forked; clients know it by another name there.
        throw cause instanceof Fault && cause.code === "threadNotLoaded"
          ? fault("noRollout", params.threadId)
          : cause;
      });
    },
  };
}

/** A client that was away has no other way to learn how much was used. */
function tellUsage(connection: Connection, { facts, usage, turn, lastTurn }: ThreadState): void {
  const turnId = turn?.id ?? lastTurn?.id;
  if (usage === null || turnId === undefined) return;
  connection.notify("thread/tokenUsage/updated", { threadId: facts.id, turnId, tokenUsage: usage });
}

/** Where a replay starts; a gap if the journal no longer has what the client saw last. */
async function replayPoint(
  journal: JournalReader,
  text: string | null | undefined,
): Promise<{ readonly cursor?: Cursor; readonly gap: boolean } | undefined> {
  if (text == null) return undefined;
  const cursor = parseCursor(text);
  if (cursor === undefined) throw fault("invalidCursor", text.slice(0, 100));
  for await (const { commit } of journal.forwards(await journal.locate(cursor.seq - 1))) {
    return commit.seq === cursor.seq && commit.epoch === cursor.epoch
      ? { cursor, gap: false }
      : { gap: true };
  }
  return { gap: true };
}

function newFacts(
  { platform }: HandlerContext,
  connection: Connection,
  more: Pick<ThreadFacts, "ephemeral" | "serviceName" | "threadSource"> & Partial<ThreadFacts>,
): ThreadFacts {
  return {
    id: platform.ids.uuid(),
    owner: ownerOf(connection.meta.principal),
    // What clients of this transport are listed under by default, whoever they are.
    source: "vscode",
    originator: connection.client?.info.name || null,
    cliVersion: PEER_VERSION,
    forkedFromId: null,
    parentThreadId: null,
    ...more,
  };
}

/** What start, resume and fork tell alike. */
function loadedView({ settings, docs }: ThreadState): Omit<Result<"thread/start">, "thread"> {
  return {
    model: settings.model,
    modelProvider: settings.modelProvider,
    serviceTier: settings.serviceTier,
    disabledPluginIds: [],
    cwd: settings.cwd,
    runtimeWorkspaceRoots: [settings.cwd],
    instructionSources: docs.map((doc) => doc.path),
    approvalPolicy: settings.approvalPolicy,
    approvalsReviewer: settings.approvalsReviewer,
    sandbox: settings.sandbox,
    activePermissionProfile: activeProfile(settings),
    reasoningEffort: settings.effort,
    multiAgentMode: "explicitRequestOnly",
  };
}
