import type { Bobbin } from "@bobbin/client";
import { useEffect } from "preact/hooks";
import { LockedOut } from "./disconnected-page.tsx";
import { connection, lockedOut } from "./host-connection.ts";
import { pageMetadata } from "./page-metadata.ts";
import { CrossIcon, Mark, PlusIcon } from "./parts/icons.tsx";
import { LazyComponent, preload } from "./parts/lazy-component.tsx";
import { failure } from "./parts/request-failure.ts";
import { go, route } from "./route.ts";
import { NewThreadPage } from "./thread-list/new-thread-page.tsx";
import type { ThreadList } from "./thread-list/thread-list.ts";
import { ThreadListView } from "./thread-list/thread-list-view.tsx";

/** The whole console: the list of threads at the side, and beside it the page that the address names. */
export function App({ client, list }: { client: Bobbin; list: ThreadList }) {
  useEffect(() => {
    document.addEventListener("keydown", shortcuts);
    return () => document.removeEventListener("keydown", shortcuts);
  }, []);
  const { value: at } = route;
  if (lockedOut.value !== undefined) return <LockedOut why={lockedOut.value} />;
  return (
    <div class={`shell at-${at.page}`}>
      <nav class="side" aria-label="Threads">
        <header class="side-head">
          <h1>
            <a class="brand" href="#/">
              <Mark />
              Bobbin
            </a>
          </h1>
          <a class="button primary" href="#/new">
            <PlusIcon />
            New
          </a>
        </header>
        <ThreadListView list={list} />
        <footer class="side-foot">
          <a href="#/host" {...(at.page === "host" && { "aria-current": "page" as const })}>
            Host
          </a>
          <span class="dim">{pageMetadata.version}</span>
        </footer>
      </nav>
      <Page client={client} list={list} />
      <div class="toasts">
        <LinkBar />
        <Failure />
      </div>
    </div>
  );
}

const loadThreadPage = async () => (await import("./thread-page/thread-page.tsx")).ThreadPage;
const loadJournalPage = async () => (await import("./journal/journal-page.tsx")).JournalPage;
const loadHostPage = async () => (await import("./host/host-page.tsx")).HostPage;

/** Loads the code of the page that the address names, while the console connects. */
export function preloadPage(): void {
  const { value: at } = route;
  if (at.page === "thread") {
    if (at.journal === undefined) preload(loadThreadPage);
    else preload(loadJournalPage);
  }
  if (at.page === "host") preload(loadHostPage);
}

/** Loads the code of the thread page, which most users open next. Called when the first page is shown. */
export function preloadThreadPage(): void {
  preload(loadThreadPage);
}

function Page({ client, list }: { client: Bobbin; list: ThreadList }) {
  const { value: at } = route;
  switch (at.page) {
    case "thread":
      return at.journal === undefined ? (
        <LazyComponent key={at.threadId} load={loadThreadPage} props={{ client, threadId: at.threadId }} />
      ) : (
        <LazyComponent
          key={`${at.threadId}/journal`}
          load={loadJournalPage}
          props={{ client, threadId: at.threadId, at: at.journal }}
        />
      );
    case "new":
    case "threads":
      return <NewThreadPage client={client} folders={list.folders.value} />;
    case "host":
      return <LazyComponent load={loadHostPage} props={{ client, list }} />;
  }
}

/** A message that is shown while there is no connection to the host. */
function LinkBar() {
  const { value: status } = connection;
  if (status.state === "connected") return null;
  return (
    <div class="toast" role="status">
      <span class="spinner" aria-hidden="true" />
      <span>The host does not answer. Connecting again …</span>
    </div>
  );
}

function Failure() {
  if (failure.value === undefined) return null;
  return (
    <div class="toast failed" role="alert">
      <span>{failure.value}</span>
      <button
        type="button"
        class="quiet small"
        aria-label="Dismiss"
        onClick={() => {
          failure.value = undefined;
        }}
      >
        <CrossIcon />
      </button>
    </div>
  );
}

/** Keyboard shortcuts: `/` focuses the search, `n` opens the page for a new thread. */
function shortcuts(event: KeyboardEvent): void {
  const isTyping = (event.target as Element).closest("input, textarea, select, dialog") !== null;
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    event.preventDefault();
    document.getElementById("search")?.focus();
  } else if (event.key === "n") {
    event.preventDefault();
    go("#/new");
  }
}
