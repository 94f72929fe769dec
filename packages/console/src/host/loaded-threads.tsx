import type { Bobbin } from "@bobbin/client";
import type { ServerDiagnosticsResponse } from "@bobbin/protocol";
import { useRef } from "preact/hooks";
import { bytesText } from "../parts/quantity-text.ts";
import { threadHref } from "../route.ts";
import type { ThreadList } from "../thread-list/thread-list.ts";
import { loadReasons } from "../thread-page/load-reasons.ts";
import { Chart } from "./chart.tsx";
import { Nothing, Section } from "./section.tsx";
import { useHostData } from "./use-host-data.ts";

const EVERY_MS = 2_000;
const POINTS = 60;
/** Limit on the rows of the table. With more threads, the list's filter helps. */
const SHOWN = 50;

const LABELS: Readonly<Record<string, string>> = {
  bobbin_connections: "Clients",
  bobbin_threads_loaded: "Threads loaded",
  bobbin_threads_resident: "Threads in memory",
};

/** Gauges with small charts, and every loaded thread with what keeps it loaded. */
export function LoadedThreads({ client, list }: { client: Bobbin; list: ThreadList }) {
  const titles = new Map(list.rows.value.map(({ thread }) => [thread.id, thread.name ?? thread.preview]));
  const history = useRef(new Map<string, number[]>());
  const { value, problem } = useHostData(async () => {
    const read = await client.request("server/diagnostics", {});
    for (const [name, number] of numbersOf(read)) {
      const points = [...(history.current.get(name) ?? []), number];
      history.current.set(name, points.slice(-POINTS));
    }
    return read;
  }, EVERY_MS);
  const threads = value?.threads ?? [];
  return (
    <>
      <Section title="Now" problem={problem}>
        <div class="charts">
          {value &&
            numbersOf(value).map(([name, number]) => (
              <Chart
                key={name}
                label={LABELS[name] ?? name}
                value={name === "Memory" ? bytesText(number) : String(number)}
                points={history.current.get(name) ?? []}
              />
            ))}
        </div>
      </Section>
      <Section title="Loaded threads">
        {threads.length === 0 ? <Nothing>No thread is loaded.</Nothing> : null}
        <ul class="facts-list">
          {threads.slice(0, SHOWN).map((thread) => (
            <li key={thread.threadId}>
              <a href={threadHref(thread.threadId)} title={thread.threadId}>
                {titles.get(thread.threadId) || thread.threadId}
              </a>
              <span>{loadReasons(thread).join(", ")}</span>
              {thread.memoryBytes == null ? null : (
                <span class="dim" title="An estimate of what hibernation would free">
                  {`about ${bytesText(thread.memoryBytes)}`}
                </span>
              )}
            </li>
          ))}
        </ul>
        {threads.length > SHOWN ? <Nothing>{`and ${threads.length - SHOWN} more`}</Nothing> : null}
      </Section>
    </>
  );
}

function numbersOf({ gauges, process }: ServerDiagnosticsResponse): readonly (readonly [string, number])[] {
  const { residentMemoryBytes } = process;
  return [
    ...gauges.map(({ name, value }) => [name, value] as const),
    ...(residentMemoryBytes === null ? [] : [["Memory", residentMemoryBytes] as const]),
  ];
}
