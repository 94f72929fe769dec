import { useEffect, useRef } from "preact/hooks";
import { attempt } from "../parts/request-failure.ts";
import { go, journalHref } from "../route.ts";
import * as actions from "./thread-actions.ts";
import type { ThreadPageData } from "./thread-page-data.ts";

interface Props {
  readonly page: ThreadPageData;
  onClose(): void;
}

/** The open menu. The focus begins at its first entry, and arrows move it. */
export function ThreadMenuItems({ page, onClose }: Props) {
  const { session, note, dialog } = page;
  const state = session.state.value;
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => {
    menu.current?.querySelector<HTMLElement>("[role=menuitem]")?.focus();
  }, []);
  const item = (label: string, act: () => Promise<void> | void) => (
    <button
      type="button"
      role="menuitem"
      onClick={() => {
        note.value = undefined;
        onClose();
        void attempt(async () => act());
      }}
    >
      {label}
    </button>
  );
  const isLoaded = state.status.type !== "notLoaded";
  return (
    <div
      ref={menu}
      class="menu"
      role="menu"
      tabIndex={-1}
      aria-label="Thread"
      onKeyDown={(event) => menuKeys(event, onClose)}
    >
      {item("Rename …", () => {
        dialog.value = { kind: "rename" };
      })}
      {state.archived
        ? null
        : item("Goal …", () => {
            dialog.value = { kind: "goal" };
          })}
      {state.archived || state.turns.length === 0
        ? null
        : item("Undo the last turn …", () => actions.undoLast(page))}
      {item("Timeline", () => page.toggleTimeline())}
      {item("Journal", () => go(journalHref(session.id)))}
      {isLoaded ? item("Why is it loaded?", () => actions.explainLoad(page)) : null}
      {state.archived ? null : item("Fork", () => actions.fork(page))}
      {isLoaded ? item("Unload", () => actions.unload(page)) : null}
      {state.archived
        ? item("Unarchive", () => actions.unarchive(page))
        : item("Archive", () => actions.archive(page))}
      {navigator.clipboard === undefined
        ? null
        : item("Copy the ID", () => navigator.clipboard.writeText(session.id))}
    </div>
  );
}

function menuKeys(event: KeyboardEvent, close: () => void): void {
  if (event.key === "Escape") return close();
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0) return;
  event.preventDefault();
  const items = [...(event.currentTarget as Element).querySelectorAll<HTMLElement>("[role=menuitem]")];
  const at = items.indexOf(document.activeElement as HTMLElement);
  items[(at + step + items.length) % items.length]?.focus();
}
