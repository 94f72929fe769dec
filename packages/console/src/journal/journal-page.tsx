import "../style/journal.css";
import type { Bobbin } from "@bobbin/client";
import type { JournalEntry } from "@bobbin/protocol";
import { useSignal } from "@preact/signals";
import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import { BackIcon } from "../parts/icons.tsx";
import { counted } from "../parts/quantity-text.ts";
import { ReadThrottle } from "../parts/read-throttle.ts";
import { type JournalRoute, journalHref, threadHref } from "../route.ts";
import { VirtualRows } from "../thread-list/virtual-rows.tsx";
import { ThreadSession } from "../thread-page/thread-session.ts";
import { titleOf } from "../thread-page/thread-title.ts";
import { type JournalFilter, JournalRecords } from "./journal-records.ts";
import { RecordDetails } from "./record-details.tsx";
import { GROUP, RECORD_GROUPS } from "./record-groups.ts";

const rowHeight = () => 52;
const TYPING_MS = 300;

interface Props {
  readonly client: Bobbin;
  readonly threadId: string;
  readonly at: JournalRoute;
}

/** The records of a thread, newest first. Older ones are read when the user scrolls down. */
export function JournalPage({ client, threadId, at }: Props) {
  const { turnId = "", record } = at;
  const session = useMemo(() => new ThreadSession(client, threadId), [client, threadId]);
  useEffect(() => () => session.close(), [session]);
  const state = session.state.value;
  const title = titleOf(state);
  const type = useSignal("");
  const text = useSignal("");
  const filter = useMemo(
    (): JournalFilter => ({ type: type.value, text: text.value, turnId }),
    [type.value, text.value, turnId],
  );
  const records = useMemo(() => new JournalRecords(client, threadId, filter), [client, threadId, filter]);
  useEffect(() => {
    void records.readOlder();
    return () => records.close();
  }, [records]);
  const newer = useMemo(() => new ReadThrottle(() => records.readNewer()), [records]);
  useEffect(() => () => newer.close(), [newer]);
  // Every new record of a followed thread changes the thread's state.
  useEffect(() => {
    newer.request();
  }, [state, newer]);
  useEffect(() => {
    document.title = `Journal of ${title} · Bobbin`;
  }, [title]);
  const onSight = useCallback(
    (_shown: readonly JournalEntry[], isEnd: boolean) => {
      if (isEnd && !records.isPaused.value) void records.readOlder();
    },
    [records],
  );
  return (
    <main class={record === undefined ? "journal-page" : "journal-page has-record"}>
      <header class="page-head">
        <a class="button quiet" href={threadHref(threadId)} aria-label="Back to the conversation">
          <BackIcon />
        </a>
        <div class="page-title">
          <h1>Journal</h1>
          <p class="dim">
            <span>{title}</span>
          </p>
        </div>
      </header>
      <Filters
        type={type.value}
        onType={(chosen) => {
          type.value = chosen;
        }}
        onText={(typed) => {
          text.value = typed;
        }}
      />
      {turnId === "" ? null : (
        <p class="only">
          Records of one turn. <a href={journalHref(threadId)}>Show all records</a>
        </p>
      )}
      <div class="journal-parts">
        <div class="journal-list">
          <VirtualRows
            items={records.entries.value}
            heightOf={rowHeight}
            label="Records"
            keyOf={({ seq, index }) => `${seq}.${index}`}
            render={(entry) => <Row threadId={threadId} turnId={turnId} entry={entry} open={record} />}
            onSight={onSight}
          />
          <Progress records={records} />
        </div>
        {record === undefined ? null : (
          <RecordDetails key={record} client={client} threadId={threadId} turnId={turnId} cursor={record} />
        )}
      </div>
    </main>
  );
}

interface FilterProps {
  readonly type: string;
  onType(type: string): void;
  onText(text: string): void;
}

function Filters({ type, onType, onText }: FilterProps) {
  const typing = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(typing.current), []);
  return (
    <div class="journal-filters" role="search">
      <label>
        <span class="visually-hidden">Type</span>
        <select value={type} onChange={(event) => onType(event.currentTarget.value)}>
          <option value="">All records</option>
          {Object.entries(RECORD_GROUPS).map(([name, types]) => (
            <optgroup key={name} label={name}>
              <option value={`${GROUP}${name}`}>{`${name}: all`}</option>
              {types.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </optgroup>
          ))}
        </select>
      </label>
      <input
        type="search"
        aria-label="Search records"
        placeholder="Search records …"
        maxLength={1000}
        onInput={({ currentTarget: { value } }) => {
          clearTimeout(typing.current);
          typing.current = setTimeout(() => onText(value), TYPING_MS);
        }}
      />
    </div>
  );
}

interface RowProps {
  readonly threadId: string;
  readonly turnId: string;
  readonly entry: JournalEntry;
  readonly open: string | undefined;
}

function Row({ threadId, turnId, entry, open }: RowProps) {
  const { seq, index, type, atMs, preview, cursor, sent } = entry;
  return (
    <a
      class="record-row"
      href={journalHref(threadId, { turnId, record: cursor })}
      {...(cursor === open && { "aria-current": "true" as const })}
    >
      <span class="record-line">
        <span class="record-seq">{`${seq}.${index + 1}`}</span>
        <strong>{type}</strong>
        {sent.length === 0 ? null : (
          <span class="record-sent" title={sent.map(({ method }) => method).join(", ")}>
            {`→ ${sent.length}`}
            <span class="visually-hidden"> sent</span>
          </span>
        )}
        <time {...(atMs !== null && { title: new Date(atMs).toISOString() })}>{timeText(atMs)}</time>
      </span>
      <code>{preview}</code>
    </a>
  );
}

const CLOCK = {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
  hourCycle: "h23",
} as const;

function timeText(atMs: number | null): string {
  if (atMs === null) return "";
  return new Date(atMs).toLocaleTimeString("en", CLOCK);
}

function Progress({ records }: { records: JournalRecords }) {
  const { entries, isReading, isComplete, isPaused, problem } = records;
  if (problem.value !== undefined)
    return (
      <p class="problem" role="alert">
        {problem.value}
      </p>
    );
  if (isPaused.value)
    return (
      <p class="journal-state">
        <button type="button" class="small" onClick={() => void records.readOlder()}>
          Search further back
        </button>
      </p>
    );
  const count = counted(entries.value.length, "record", "records");
  const text = isComplete.value ? count : `${count} so far`;
  return (
    <p class="journal-state" role="status">
      {isReading.value ? "Reading …" : text}
    </p>
  );
}
