import type { Thread } from "@bobbin/protocol";
import { type Signal, useComputed, useSignal } from "@preact/signals";
import { useCallback, useEffect, useRef } from "preact/hooks";
import { folderName } from "../parts/file-paths.ts";
import { MoreIcon, PlusIcon, SearchIcon } from "../parts/icons.tsx";
import { LazyComponent } from "../parts/lazy-component.tsx";
import { agoText } from "../parts/quantity-text.ts";
import { attempt } from "../parts/request-failure.ts";
import { StatusDot, statusText } from "../parts/thread-status.tsx";
import { route, threadHref } from "../route.ts";
import { foldedSections, toggleFolded } from "./folded-sections.ts";
import { isHeading, type ListHeading, type ListItem, listItems, REST } from "./list-items.ts";
import type { SectionTask } from "./section-dialogs.tsx";
import { isGrouped, isWaiting, type ThreadFilter } from "./thread-filter.ts";
import type { ThreadList } from "./thread-list.ts";
import { recencyOf, type ThreadRow } from "./thread-rows.ts";
import { PINNED } from "./thread-sections.ts";
import { VirtualRows } from "./virtual-rows.tsx";

const ROW_PX = 60;
const HEADING_PX = 40;
/** Height of the row of a loaded thread, which also shows why the thread is loaded. */
const LOADED_ROW_PX = 78;
/** The search starts when no key was pressed for this long. */
const TYPING_MS = 200;
const CLOCK_MS = 30_000;
const REASONS_MS = 3_000;

const STATUSES: readonly (readonly [ThreadFilter["status"], string])[] = [
  ["all", "All"],
  ["loaded", "Loaded"],
  ["active", "Working"],
  ["waiting", "Needs you"],
  ["error", "Failed"],
];

/** The list of threads with its search and filters. */
export function ThreadListView({ list }: { list: ThreadList }) {
  const now = useSignal(Math.floor(Date.now() / 1000));
  useEffect(() => {
    const clock = setInterval(() => {
      now.value = Math.floor(Date.now() / 1000);
    }, CLOCK_MS);
    // Changes that are made through another host of this home are not sent to this page.
    const read = () => void list.reloadSections();
    window.addEventListener("focus", read);
    return () => {
      clearInterval(clock);
      window.removeEventListener("focus", read);
    };
  }, [now, list]);
  useEffect(() => {
    const clock = setInterval(() => {
      if (!document.hidden) list.reasons.refresh();
    }, REASONS_MS);
    return () => clearInterval(clock);
  }, [list]);
  const task = useSignal<SectionTask | undefined>(undefined);
  const items = useComputed(() =>
    isGrouped(list.filter.value)
      ? listItems(list.sections.groups.value, list.rows.value, foldedSections.value)
      : list.rows.value,
  ).value;
  const onSight = useCallback(
    (seen: readonly ListItem[], isEnd: boolean) => readOn(list, seen, isEnd),
    [list],
  );
  return (
    <>
      <Filters list={list} />
      {list.problem.value === undefined ? null : (
        <p class="problem" role="alert">
          {list.problem.value}
        </p>
      )}
      {items.length === 0 && !list.isReading.value ? (
        <p class="empty">{isFiltered(list.filter.value) ? "No thread fits." : "No threads yet."}</p>
      ) : null}
      <VirtualRows
        items={items}
        label="Threads"
        heightOf={heightOf}
        keyOf={keyOf}
        render={(item) =>
          isHeading(item) ? (
            <Heading heading={item} task={task} />
          ) : (
            <Row row={item} now={now.value} task={task} list={list} />
          )
        }
        onSight={onSight}
      />
      {task.value === undefined ? null : (
        <LazyComponent
          load={loadDialog}
          props={{
            list,
            task: task.value,
            onClose: () => {
              task.value = undefined;
            },
          }}
        />
      )}
    </>
  );
}

const loadDialog = async () => (await import("./section-dialogs.tsx")).SectionDialog;

function heightOf(item: ListItem): number {
  if (isHeading(item)) return HEADING_PX;
  return item.thread.status.type === "notLoaded" ? ROW_PX : LOADED_ROW_PX;
}

function keyOf(item: ListItem): string {
  return isHeading(item) ? (item.group?.section.id ?? REST) : item.thread.id;
}

function isRow(item: ListItem): item is ThreadRow {
  return !isHeading(item);
}

/** Reads sections whose headings are in sight, and the next page of each list whose end is. */
function readOn(list: ThreadList, seen: readonly ListItem[], isEnd: boolean): void {
  list.sighted(seen.filter(isRow));
  for (const item of seen) {
    if (!isHeading(item)) continue;
    if (item.isOpen && item.group?.next === undefined && item.group !== null)
      void list.sections.more(item.group.section.id).catch(() => {});
    if (item.above !== null) void list.sections.more(item.above).catch(() => {});
  }
  const last = seen.at(-1);
  const isFolded = last !== undefined && isHeading(last) && !last.isOpen;
  if (isEnd && !isFolded) void list.more();
}

type Task = Signal<SectionTask | undefined>;

function Heading({ heading: { group, isOpen }, task }: { heading: ListHeading; task: Task }) {
  const section = group?.section;
  const name = section?.name ?? "Other threads";
  return (
    <div class="heading">
      <button
        type="button"
        class="quiet small"
        aria-expanded={isOpen}
        onClick={() => toggleFolded(section?.id ?? REST)}
      >
        <span class="fold" aria-hidden="true" />
        <span class="heading-name">{name}</span>
      </button>
      {section === undefined ? (
        <button
          type="button"
          class="quiet small"
          aria-label="New section"
          title="New section"
          onClick={() => {
            task.value = { kind: "create" };
          }}
        >
          <PlusIcon />
        </button>
      ) : section.id === PINNED ? null : (
        <button
          type="button"
          class="quiet small"
          aria-label={`Section ${name}`}
          onClick={() => {
            task.value = { kind: "edit", section };
          }}
        >
          <MoreIcon />
        </button>
      )}
    </div>
  );
}

function isFiltered({ search, status, folder, owner, archived }: ThreadFilter): boolean {
  return search !== "" || status !== "all" || folder !== "" || owner !== "" || archived;
}

function Filters({ list }: { list: ThreadList }) {
  const typing = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const { status, folder, owner, archived } = list.filter.value;
  const search = (text: string) => {
    clearTimeout(typing.current);
    typing.current = setTimeout(() => void list.setFilter({ search: text.trim() }), TYPING_MS);
  };
  return (
    <search class="filters">
      <label class="search">
        <SearchIcon />
        <input
          id="search"
          type="search"
          placeholder="Search"
          aria-label="Search threads"
          autocomplete="off"
          onInput={(event) => search(event.currentTarget.value)}
        />
        <span class="key" aria-hidden="true">
          /
        </span>
      </label>
      <div class="filter-row">
        <select
          aria-label="Status"
          value={status}
          onChange={(event) =>
            void list.setFilter({
              status: event.currentTarget.value as ThreadFilter["status"],
              archived: false,
            })
          }
        >
          {STATUSES.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
        <select
          aria-label="Folder"
          value={folder}
          onChange={(event) => void list.setFilter({ folder: event.currentTarget.value })}
        >
          <option value="">Every folder</option>
          {list.folders.value.map((path) => (
            <option key={path} value={path}>
              {folderName(path)}
            </option>
          ))}
        </select>
        <label class="toggle">
          <input
            type="checkbox"
            checked={archived}
            onChange={(event) =>
              void list.setFilter({ archived: event.currentTarget.checked, status: "all" })
            }
          />
          Archived
        </label>
      </div>
      {list.owners.value.length < 2 ? null : (
        <select
          aria-label="Owner"
          value={owner}
          onChange={(event) => void list.setFilter({ owner: event.currentTarget.value })}
        >
          <option value="">Every owner</option>
          {list.owners.value.map((name) => (
            <option key={name} value={name}>
              {ownerText(name)}
            </option>
          ))}
        </select>
      )}
    </search>
  );
}

interface RowProps {
  readonly row: ThreadRow;
  readonly now: number;
  readonly task: Task;
  readonly list: ThreadList;
}

function Row({ row: { thread, snippet }, now, task, list }: RowProps) {
  const { value: at } = route;
  const isCurrent = at.page === "thread" && at.threadId === thread.id;
  const title = thread.name ?? (thread.preview || "New thread");
  const reason = thread.status.type === "notLoaded" ? undefined : list.reasons.texts.value.get(thread.id);
  return (
    <div class="row-frame">
      <a
        class="row"
        href={threadHref(thread.id)}
        onKeyDown={(event) => moveByKey(event, list, thread.id)}
        {...(isCurrent && { "aria-current": "page" as const })}
      >
        <StatusDot status={thread.status} />
        <span class="row-title">{title}</span>
        <time class="dim">{agoText(recencyOf(thread), now)}</time>
        <span class={`row-note dim${reason === undefined ? "" : " reason"}`} title={reason}>
          {isWaiting(thread) ? (
            <strong class="needs-you">{statusText(thread.status)}</strong>
          ) : (
            (snippet ?? placeText(thread))
          )}
          {reason === undefined ? null : ` · ${reason}`}
        </span>
      </a>
      <button
        type="button"
        class="quiet small row-more"
        aria-label={`Move ${title} to a section`}
        title="Move to a section"
        onClick={() => {
          task.value = { kind: "move", thread, title };
        }}
      >
        <MoreIcon />
      </button>
    </div>
  );
}

/** Alt with an arrow key moves a thread within its section. */
function moveByKey(event: KeyboardEvent, list: ThreadList, threadId: string): void {
  if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
  event.preventDefault();
  const row = event.currentTarget as HTMLElement;
  const way = event.key === "ArrowUp" ? "up" : "down";
  void attempt(async () => {
    await (await import("./section-changes.ts")).moveWithinSection(list, threadId, way);
    // A row that changes its place loses the focus.
    row.focus();
  });
}

/** The folder of a thread, and its owner if that is not the host's own user. */
function placeText({ cwd, owner }: Thread): string {
  return owner == null || owner === LOCAL ? folderName(cwd) : `${folderName(cwd)} · ${ownerText(owner)}`;
}

/** The owner of threads that the host's own user started. */
const LOCAL = "local";

function ownerText(owner: string): string {
  return owner === LOCAL ? "The host’s own user" : owner.replace(/^subject:/, "");
}
