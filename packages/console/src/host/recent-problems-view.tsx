import type { Bobbin } from "@bobbin/client";
import { threadHref } from "../route.ts";
import { logProblems } from "./log-problems.ts";
import { recentProblems } from "./recent-problems.ts";
import { Nothing, Section } from "./section.tsx";
import { useHostData } from "./use-host-data.ts";

const EVERY_MS = 5_000;
const LINES = 50;

/** Warnings and errors of the host's log, and those that threads reported since the page was opened; the latest first. */
export function RecentProblems({ client }: { client: Bobbin }) {
  const log = useHostData(
    async () => logProblems((await client.request("server/logs/read", { level: "warn", limit: LINES })).data),
    EVERY_MS,
  );
  const lines = log.value ?? [];
  // A problem that is also in the host's log is shown once.
  const reported = recentProblems.value.filter(({ text }) => !lines.some((line) => line.text.includes(text)));
  const problems = [...lines, ...reported].sort((one, other) => other.atMs - one.atMs);
  return (
    <Section title="Recent problems" problem={log.problem}>
      {log.value && problems.length === 0 ? <Nothing>None.</Nothing> : null}
      <ul class="facts-list">
        {problems.slice(0, LINES).map(({ key, atMs, text, threadId }) => (
          <li key={key}>
            <time class="dim">{new Date(atMs).toLocaleString()}</time>
            <span>
              {text} {threadId === null ? null : <a href={threadHref(threadId)}>thread</a>}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
