import type { Bobbin, ThreadState } from "@bobbin/client";
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { durationText } from "../parts/quantity-text.ts";
import { ReadThrottle } from "../parts/read-throttle.ts";
import { shortCommand } from "./items/command-item.tsx";
import {
  detailText,
  type TimelineBar,
  type TurnTimelineData,
  timelineBars,
  tokensText,
  turnCostText,
} from "./turn-timeline-bars.ts";

const TICK_MS = 500;

interface Props {
  readonly client: Bobbin;
  readonly state: ThreadState;
  readonly turnId: string;
}

/** Shows as bars what a turn spent time, tokens and money on. Updated while the turn runs. */
export function TurnTimeline({ client, state, turnId }: Props) {
  const timeline = useSignal<TurnTimelineData | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const now = useSignal(Date.now());
  const reads = useRef<ReadThrottle | undefined>(undefined);
  const isRunning = timeline.value?.status === "inProgress";
  useEffect(() => {
    const paced = new ReadThrottle(async () => {
      try {
        timeline.value = await client.request("turn/timeline/read", { threadId: state.id, turnId });
        problem.value = undefined;
      } catch (cause) {
        problem.value = cause instanceof Error ? cause.message : String(cause);
      }
    });
    reads.current = paced;
    paced.request();
    return () => paced.close();
  }, [client, state.id, turnId, timeline, problem]);
  // Every change of the thread's state may change the timeline, until the turn has ended.
  useEffect(() => {
    if (timeline.value === undefined || timeline.value.status === "inProgress") reads.current?.request();
  }, [state, timeline]);
  useEffect(() => {
    if (!isRunning) return undefined;
    const clock = setInterval(() => {
      now.value = Date.now();
    }, TICK_MS);
    return () => clearInterval(clock);
  }, [isRunning, now]);
  if (problem.value !== undefined) return <p class="problem">{problem.value}</p>;
  if (timeline.value === undefined) return <p class="dim">Reading …</p>;
  const { value: found } = timeline;
  return (
    <>
      <TurnFacts timeline={found} now={now.value} />
      {found.omittedSpans > 0 ? (
        <p class="dim">{`${found.omittedSpans} earlier parts that succeeded are left out.`}</p>
      ) : null}
      <ol class="timeline">
        {timelineBars(found, now.value).map((bar) => (
          <Row key={bar.span.id} bar={bar} />
        ))}
      </ol>
    </>
  );
}

const STATUS = {
  inProgress: "running",
  completed: "completed",
  failed: "failed",
  interrupted: "interrupted",
} as const;

function TurnFacts({ timeline, now }: { timeline: TurnTimelineData; now: number }) {
  const { status, startedAtMs, completedAtMs, usage } = timeline;
  const duration = Math.max(0, (completedAtMs ?? now) - startedAtMs);
  const facts = [
    `${STATUS[status]}, ${durationText(duration)}`,
    new Date(startedAtMs).toLocaleString("en", { dateStyle: "medium", timeStyle: "medium" }),
    usage.totalTokens > 0 ? tokensText(usage) : "",
    turnCostText(timeline),
  ];
  return <p class="dim">{facts.filter((fact) => fact !== "").join(" · ")}</p>;
}

function Row({ bar: { span, durationMs, left, width } }: { bar: TimelineBar }) {
  const { kind, label, status } = span;
  const detail = detailText(span);
  return (
    <li class={status === "failed" ? "is-failed" : `is-${kind}`}>
      <span class="label" title={label}>
        {shortCommand(label)}
        {status === "failed" ? <span class="visually-hidden"> (failed)</span> : null}
        {status === "inProgress" ? <span class="visually-hidden"> (running)</span> : null}
      </span>
      <span class="track">
        <span class="bar" style={{ marginLeft: `${left}%`, width: `${width}%` }} />
      </span>
      <span class="facts">{durationText(durationMs)}</span>
      {detail === "" ? null : <span class="detail">{detail}</span>}
    </li>
  );
}
