import { go, route, threadHref, timelineHref } from "../route.ts";

/** The turn whose timeline the address names; undefined if none is open. */
export function openTimeline(): string | undefined {
  return route.value.page === "thread" ? route.value.timelineOf : undefined;
}

/** Opens the timeline of the last turn, or closes the one that is open. */
export function toggleTimeline(threadId: string): void {
  go(openTimeline() === undefined ? timelineHref(threadId, "last") : threadHref(threadId));
}

/** Opens the timeline of a turn of the thread that is shown. */
export function TimelineLink({ turnId }: { turnId: string }) {
  const { value: at } = route;
  if (at.page !== "thread") return null;
  return (
    <a class="timeline-link" href={timelineHref(at.threadId, turnId)}>
      <svg class="icon" viewBox="0 0 20 20" aria-hidden="true">
        <path d="M3 5h7M7 10h9M5 15h6" />
      </svg>
      Timeline<span class="visually-hidden"> of this turn</span>
    </a>
  );
}
