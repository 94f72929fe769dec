import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ThreadPageData } from "./thread-page-data.ts";

interface Props {
  readonly page: ThreadPageData;
  readonly name: string;
  readonly children: ComponentChildren;
}

/**
 * A modal dialog. It is closed by Escape, by a form with `method="dialog"`, and by setting `page.dialog` to
 * undefined.
 */
export function Dialog({ page, name, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current!;
    const before = document.activeElement;
    dialog.showModal();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      aria-label={name}
      onClose={() => {
        page.dialog.value = undefined;
      }}
    >
      {children}
    </dialog>
  );
}

/** Closes the open dialog without changing anything. */
export function CancelButton({ page }: { page: ThreadPageData }) {
  return (
    <button
      type="button"
      onClick={() => {
        page.dialog.value = undefined;
      }}
    >
      Cancel
    </button>
  );
}
