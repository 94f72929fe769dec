import "../style/timeline.css";
import type { Bobbin, ThreadState } from "@bobbin/client";
import { CrossIcon } from "../parts/icons.tsx";
import { go, journalHref, threadHref, timelineHref } from "../route.ts";
import { openTimeline } from "./timeline-link.tsx";
import { TurnTimeline } from "./turn-timeline.tsx";

/** The timeline of the turn that the address names. */
export function TurnTimelinePanel({ client, state }: { client: Bobbin; state: ThreadState }) {
  const wanted = openTimeline();
  if (wanted === undefined) return null;
  const turnId = wanted === "last" ? state.turns.at(-1)?.id : wanted;
  // Turns before the first one in the page are not known here.
  const at = state.turns.findIndex(({ id }) => id === turnId);
  const [before, after] = at < 0 ? [] : [state.turns[at - 1], state.turns[at + 1]];
  return (
    <section class="turn-timeline-panel" aria-label="Timeline" tabIndex={0}>
      <div class="column">
        <header>
          <h2>Timeline</h2>
          {before ? <a href={timelineHref(state.id, before.id)}>Turn before</a> : null}
          {after ? <a href={timelineHref(state.id, after.id)}>Turn after</a> : null}
          {turnId ? <a href={journalHref(state.id, { turnId })}>Records of this turn</a> : null}
          <button
            type="button"
            class="quiet small"
            aria-label="Close the timeline"
            onClick={() => go(threadHref(state.id))}
          >
            <CrossIcon />
          </button>
        </header>
        {turnId === undefined ? (
          <p class="dim">There is no turn yet.</p>
        ) : (
          <TurnTimeline key={turnId} client={client} state={state} turnId={turnId} />
        )}
      </div>
    </section>
  );
}
