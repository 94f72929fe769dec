import "../style/items.css";
import { type Bobbin, runningTurn } from "@bobbin/client";
import type { UserInput } from "@bobbin/protocol";
import { useSignal } from "@preact/signals";
import { useCallback, useEffect, useMemo } from "preact/hooks";
import { folderName } from "../parts/file-paths.ts";
import { BackIcon } from "../parts/icons.tsx";
import { LazyComponent, preload } from "../parts/lazy-component.tsx";
import { countText } from "../parts/quantity-text.ts";
import { attempt } from "../parts/request-failure.ts";
import { StatusChip } from "../parts/thread-status.tsx";
import { questionsOf } from "../questions/questions.ts";
import { type Assist, Composer, type SendHow } from "./composer.tsx";
import { Conversation } from "./conversation.tsx";
import { HostClient } from "./host-client-context.ts";
import { runMessageCommand } from "./run-message-command.ts";
import { ThreadFolder } from "./thread-folder-context.ts";
import { ThreadMenu } from "./thread-menu.tsx";
import type { ThreadDialog, ThreadPageData } from "./thread-page-data.ts";
import { ThreadSession } from "./thread-session.ts";
import { titleOf } from "./thread-title.ts";
import { openTimeline, toggleTimeline } from "./timeline-link.tsx";

const loadQuestionCard = async () => (await import("../questions/question-card.tsx")).QuestionCard;
const loadGoalBar = async () => (await import("./goal-bar.tsx")).GoalBar;
const loadQueue = async () => (await import("./queue.tsx")).Queue;
const loadTimeline = async () => (await import("./turn-timeline-panel.tsx")).TurnTimelinePanel;

/** One thread: its conversation, open questions, and the field for the next message. */
export function ThreadPage({ client, threadId }: { client: Bobbin; threadId: string }) {
  const session = useMemo(() => new ThreadSession(client, threadId), [client, threadId]);
  useEffect(() => () => session.close(), [session]);
  const state = session.state.value;
  const { thread, settings, tokenUsage } = state;
  const isUnreadable = !thread && session.problem.value !== undefined;
  const title = isUnreadable ? "No thread" : titleOf(state);
  const isRunning = runningTurn(state) !== undefined;
  const asked = questionsOf(
    state.requests.filter(({ id }) => !session.answered.value.has(id)),
    (request, result) => session.answer(request, result),
  );
  const note = useSignal<string | undefined>(undefined);
  const dialog = useSignal<ThreadDialog | undefined>(undefined);
  const page: ThreadPageData = useMemo(
    () => ({ client, session, note, dialog, toggleTimeline: () => toggleTimeline(session.id) }),
    [client, session, note, dialog],
  );
  const onRevert = useCallback(
    (turnId: string) => {
      dialog.value = { kind: "revert", turnId };
    },
    [dialog],
  );
  const assist: Assist | undefined = thread ? { client, folder: thread.cwd, page } : undefined;
  const send = async (input: UserInput[], how: SendHow) => {
    const sent = await runMessageCommand(assist ?? { client, folder: "", page }, input);
    if (sent !== undefined) await session.send(sent, how);
  };
  const model = settings?.model ?? thread?.model ?? "";
  useEffect(() => {
    if (isRunning) preload(loadQuestionCard);
  }, [isRunning]);
  useEffect(() => {
    document.title = `${title} · Bobbin`;
  }, [title]);
  return (
    <main class="thread-page">
      <header class="page-head">
        <a class="button quiet back" href="#/" aria-label="All threads">
          <BackIcon />
        </a>
        <div class="page-title">
          <h1 title={title}>{title}</h1>
          <p class="dim">
            {thread ? <span title={thread.cwd}>{folderName(thread.cwd)}</span> : null}
            {model ? <span>{model}</span> : null}
            {tokenUsage ? <span>{`${countText(tokenUsage.total.totalTokens)} tokens`}</span> : null}
          </p>
        </div>
        {isUnreadable ? null : <StatusChip status={state.status} />}
        {thread ? <ThreadMenu page={page} /> : null}
      </header>
      {session.problem.value === undefined ? null : (
        <p class="problem" role="alert">
          {session.problem.value}
        </p>
      )}
      {openTimeline() === undefined ? null : <LazyComponent load={loadTimeline} props={{ client, state }} />}
      <ThreadFolder.Provider value={thread?.cwd ?? ""}>
        <HostClient.Provider value={client}>
          <Conversation session={session} onRevert={state.archived ? undefined : onRevert} />
        </HostClient.Provider>
      </ThreadFolder.Provider>
      <footer class="dock">
        <div class="column">
          {asked.length === 0 ? null : (
            <div class="questions">
              {asked.map((question) => (
                <LazyComponent key={question.id} load={loadQuestionCard} props={{ question }} />
              ))}
            </div>
          )}
          {state.goal === null ? null : (
            <LazyComponent load={loadGoalBar} props={{ page, goal: state.goal }} />
          )}
          {state.queue.length === 0 ? null : (
            <LazyComponent load={loadQueue} props={{ page, queue: state.queue, isRunning }} />
          )}
          {isUnreadable ? null : state.archived ? (
            <p class="dim">This thread is archived. Unarchive it to go on.</p>
          ) : (
            <Composer
              assist={assist}
              storedAs={`bobbin-unsent-${threadId}`}
              draft={session.draft}
              isRunning={isRunning}
              placeholder={isRunning ? "Steer the running turn …" : "Message …"}
              onSend={(input, how) => attempt(() => send(input, how))}
              onInterrupt={() => void attempt(() => session.interrupt())}
            />
          )}
        </div>
      </footer>
    </main>
  );
}
