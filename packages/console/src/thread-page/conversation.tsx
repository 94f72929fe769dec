import { currentItem, type ThreadState, type TurnState } from "@bobbin/client";
import type { ThreadItem } from "@bobbin/protocol";
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { DownIcon, UndoIcon } from "../parts/icons.tsx";
import { memo } from "../parts/memo.tsx";
import { durationText } from "../parts/quantity-text.ts";
import { ItemView } from "./items/item-view.tsx";
import { PlanSteps } from "./plan-steps.tsx";
import type { ThreadSession } from "./thread-session.ts";
import { TimelineLink } from "./timeline-link.tsx";

/** Within this distance of its end, the conversation scrolls to new content. */
const NEAR_END_PX = 80;

interface Props {
  readonly session: ThreadSession;
  /** Asks whether a turn and all later ones are to be undone. */
  readonly onRevert: ((turnId: string) => void) | undefined;
}

/** The turns of a thread, oldest first. Scrolls to new content while the user is at the end. */
export function Conversation({ session, onRevert }: Props) {
  const state = session.state.value;
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useSignal(true);
  const hasOlder = session.hasOlder.value;
  /** The height before older turns were added, to keep the reader's place. */
  const heightBefore = useRef(0);

  useLayoutEffect(() => {
    const element = box.current!;
    if (heightBefore.current > 0 && element.scrollHeight > heightBefore.current) {
      element.scrollTop += element.scrollHeight - heightBefore.current;
      heightBefore.current = 0;
    } else if (isAtEnd.value) element.scrollTop = element.scrollHeight;
  });
  useEffect(() => {
    const element = box.current!;
    const grown = new ResizeObserver(() => {
      if (isAtEnd.value) element.scrollTop = element.scrollHeight;
    });
    grown.observe(element);
    grown.observe(element.firstElementChild!);
    return () => grown.disconnect();
  }, [isAtEnd]);

  const lastTop = useRef(0);
  const onScroll = ({ currentTarget }: Event) => {
    const { scrollTop, scrollHeight, clientHeight } = currentTarget as Element;
    const isNear = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
    // Only a move upwards leaves the end: the content may have grown since the page itself scrolled there.
    if (isNear) isAtEnd.value = true;
    else if (scrollTop < lastTop.current) isAtEnd.value = false;
    lastTop.current = scrollTop;
  };
  const readOlder = () => {
    heightBefore.current = box.current!.scrollHeight;
    void session.readOlder();
  };
  return (
    <div class="conversation-frame">
      <div
        class="conversation"
        ref={box}
        onScroll={onScroll}
        tabIndex={0}
        role="log"
        aria-label="Conversation"
      >
        <div class="column">
          <h2 class="visually-hidden">Conversation</h2>
          {hasOlder ? (
            <button type="button" class="quiet older" onClick={readOlder} disabled={session.isReading.value}>
              Show earlier turns
            </button>
          ) : null}
          {state.turns.map((turn) => (
            <TurnView
              key={turn.id}
              turn={turn}
              running={runningOf(state, turn)}
              onRevert={onRevert}
              isWaiting={turn.status === "inProgress" && isWaiting(state)}
            />
          ))}
          {state.turns.length === 0 && !session.isReading.value && session.problem.value === undefined ? (
            <p class="empty">Nothing was said yet.</p>
          ) : null}
        </div>
      </div>
      {isAtEnd.value ? null : (
        <button
          type="button"
          class="to-end"
          aria-label="Go to the end"
          onClick={() => box.current!.scrollTo({ top: box.current!.scrollHeight, behavior: "smooth" })}
        >
          <DownIcon />
        </button>
      )}
    </div>
  );
}

/** The running items, for a turn that runs or has some. Undefined for other turns: they are not rendered again. */
function runningOf(state: ThreadState, turn: TurnState): ThreadState["running"] | undefined {
  return turn.status === "inProgress" || turn.items.some(({ id }) => state.running.has(id))
    ? state.running
    : undefined;
}

function isWaiting({ status }: ThreadState): boolean {
  return status.type === "active" && status.activeFlags.length > 0;
}

interface TurnProps {
  readonly turn: TurnState;
  readonly running: ThreadState["running"] | undefined;
  readonly isWaiting: boolean;
  readonly onRevert: Props["onRevert"];
}

const TurnView = memo(({ turn, running, isWaiting, onRevert }: TurnProps) => {
  const { items, status, error, plan, retrying, durationMs } = turn;
  return (
    <div class="turn">
      {items.slice(0, 1).map((item) => (
        <Item key={item.id} item={item} running={running} />
      ))}
      {onRevert === undefined || status === "inProgress" ? null : (
        <button
          type="button"
          class="quiet small undo"
          aria-label="Undo this turn and all later ones …"
          title="Undo this turn and all later ones …"
          onClick={() => onRevert(turn.id)}
        >
          <UndoIcon />
        </button>
      )}
      {plan ? <PlanSteps explanation={plan.explanation} steps={plan.steps} /> : null}
      {items.slice(1).map((item) => (
        <Item key={item.id} item={item} running={running} />
      ))}
      {retrying ? (
        <p class="turn-end" role="status">
          <span class="spinner" aria-hidden="true" />
          The model did not answer, and is called again: {retrying.message}
        </p>
      ) : null}
      {isWaiting ? <p class="turn-end">Waits for your answer</p> : null}
      {status === "inProgress" && !retrying && !isWaiting ? (
        <p class="turn-end">
          <span class="spinner" aria-hidden="true" />
          Working
        </p>
      ) : null}
      {status === "failed" ? (
        <p class="turn-end failed" role="alert">
          {error?.message ?? "The turn failed."}
        </p>
      ) : null}
      {status === "interrupted" ? <p class="turn-end">Interrupted</p> : null}
      {status === "completed" && durationMs !== null && durationMs >= 1000 ? (
        <p class="turn-end">{durationText(durationMs)}</p>
      ) : null}
      <TimelineLink turnId={turn.id} />
    </div>
  );
});

function Item({ item, running }: { item: ThreadItem; running: ThreadState["running"] | undefined }) {
  const streamed = running?.get(item.id);
  if (running === undefined || streamed === undefined)
    return <ItemView item={item} isRunning={false} progress={null} />;
  return <ItemView item={currentItem({ running }, item)} isRunning progress={streamed.progress} />;
}
