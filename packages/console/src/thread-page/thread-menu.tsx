import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { MoreIcon } from "../parts/icons.tsx";
import { LazyComponent } from "../parts/lazy-component.tsx";
import type { ThreadPageData } from "./thread-page-data.ts";

const loadItems = async () => (await import("./thread-menu-items.tsx")).ThreadMenuItems;
const loadDialogs = async () => (await import("./thread-dialogs.tsx")).ThreadDialogs;

/** The menu of actions on a thread, and a note with the result of the last action. */
export function ThreadMenu({ page }: { page: ThreadPageData }) {
  const { note, dialog } = page;
  const isOpen = useSignal(false);
  const box = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen.value) return undefined;
    const leave = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) isOpen.value = false;
    };
    document.addEventListener("pointerdown", leave);
    return () => document.removeEventListener("pointerdown", leave);
  }, [isOpen, isOpen.value]);
  const close = () => {
    isOpen.value = false;
    opener.current?.focus();
  };
  return (
    <div class="menu-frame" ref={box}>
      <button
        type="button"
        class="quiet"
        ref={opener}
        aria-label="More"
        aria-haspopup="menu"
        aria-expanded={isOpen.value}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        <MoreIcon />
      </button>
      {isOpen.value ? <LazyComponent load={loadItems} props={{ page, onClose: close }} /> : null}
      {note.value === undefined ? null : (
        <div class="toast" role="status">
          <span>{note.value}</span>
          <button
            type="button"
            class="quiet small"
            onClick={() => {
              note.value = undefined;
            }}
          >
            OK
          </button>
        </div>
      )}
      {dialog.value === undefined ? null : (
        <LazyComponent load={loadDialogs} props={{ page, dialog: dialog.value }} />
      )}
    </div>
  );
}
