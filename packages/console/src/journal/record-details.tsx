import type { Bobbin } from "@bobbin/client";
import type { JournalEntry, JournalMessage } from "@bobbin/protocol";
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { CrossIcon } from "../parts/icons.tsx";
import { bytesText } from "../parts/quantity-text.ts";
import { go, journalHref, timelineHref } from "../route.ts";

interface Props {
  readonly client: Bobbin;
  readonly threadId: string;
  readonly turnId: string;
  readonly cursor: string;
}

/** One record as JSON, and the messages that the host sent because of the record. */
export function RecordDetails({ client, threadId, turnId, cursor }: Props) {
  const entry = useSignal<JournalEntry | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  useEffect(() => {
    client.request("thread/journal/read", { threadId, cursor, limit: 1, includeJson: true }).then(
      ({ data: [found] }) => {
        entry.value = found;
        if (found === undefined) problem.value = "The record is not there.";
      },
      (cause: unknown) => {
        problem.value = cause instanceof Error ? cause.message : String(cause);
      },
    );
  }, [client, threadId, cursor, entry, problem]);
  return (
    <section class="record" aria-label="Record" tabIndex={0}>
      <header>
        <h2>{entry.value?.type ?? "Record"}</h2>
        <button
          type="button"
          class="quiet small"
          aria-label="Close the record"
          onClick={() => go(journalHref(threadId, { turnId }))}
        >
          <CrossIcon />
        </button>
      </header>
      {problem.value === undefined ? null : <p class="problem">{problem.value}</p>}
      {entry.value === undefined ? null : <Facts threadId={threadId} entry={entry.value} />}
    </section>
  );
}

function Facts({ threadId, entry }: { threadId: string; entry: JournalEntry }) {
  const { seq, index, epoch, atMs, bytes, turnId, json, isCut, sent } = entry;
  return (
    <>
      <p class="dim">
        {`Commit ${seq}, record ${index + 1} · load ${epoch} · ${bytesText(bytes)}`}
        {atMs === null ? "" : ` · ${new Date(atMs).toLocaleString("en", FULL)}`}
      </p>
      {turnId === null ? null : (
        <p>
          <a href={timelineHref(threadId, turnId)}>Timeline of its turn</a>
        </p>
      )}
      <Json label="Record as JSON" json={json ?? ""} isCut={isCut} />
      <h3>Sent because of it</h3>
      {sent.length === 0 ? <p class="dim">Nothing.</p> : null}
      <ul class="sent">
        {sent.map((message, nth) => (
          <li key={nth}>
            <details>
              <summary>
                <code>{message.method}</code> <span class="dim">{receivers(message)}</span>
              </summary>
              <Json label={message.method} json={message.json ?? ""} isCut={message.isCut} />
            </details>
          </li>
        ))}
      </ul>
    </>
  );
}

const FULL = { dateStyle: "medium", timeStyle: "medium" } as const;

const KINDS = {
  notification: "Notification to",
  request: "Request to",
  toolServerNotice: "Notice to the tool servers",
} as const;

function receivers({ kind, to }: JournalMessage): string {
  const names = to.map((name) => NAMES[name] ?? name).join(", ");
  if (kind !== "toolServerNotice") return `${KINDS[kind]} ${names}`;
  return names === "" ? "Notice to tool servers: none is configured now" : `${KINDS[kind]} ${names}`;
}

const NAMES: Readonly<Record<string, string>> = {
  everyone: "all clients",
  subscribers: "clients that follow the thread",
};

function Json({ label, json, isCut }: { label: string; json: string; isCut: boolean }) {
  return (
    <>
      <pre class="json" tabIndex={0} role="region" aria-label={label}>
        {isCut ? json : indented(json)}
      </pre>
      {isCut ? <p class="dim">The rest is not shown: it is too long.</p> : null}
    </>
  );
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
