import type { ComponentChildren } from "preact";
import { CheckIcon, CrossIcon } from "../../parts/icons.tsx";

export type ItemState = "running" | "done" | "failed" | "declined" | "quiet";

interface Props {
  readonly icon: ComponentChildren;
  readonly title: ComponentChildren;
  /** Short facts on the right: an exit code, a duration. */
  readonly facts?: string;
  readonly state: ItemState;
  readonly isOpen?: boolean;
  readonly children: ComponentChildren;
}

const STATES: Readonly<Record<ItemState, string>> = {
  running: "running",
  done: "done",
  failed: "failed",
  declined: "declined",
  quiet: "",
};

/** An item that is shown as one line until the user opens it. */
export function FoldedItem({ icon, title, facts, state, isOpen = false, children }: Props) {
  return (
    <details class={`item ${state}`} open={isOpen}>
      <summary>
        {icon}
        <span class="title">{title}</span>
        {facts ? <span class="facts">{facts}</span> : null}
        <StateSign state={state} />
      </summary>
      <div class="body">{children}</div>
    </details>
  );
}

function StateSign({ state }: { state: ItemState }) {
  if (state === "quiet") return null;
  return (
    <span class={`sign ${state}`}>
      {state === "running" ? <span class="spinner" /> : state === "done" ? <CheckIcon /> : <CrossIcon />}
      <span class="visually-hidden">{STATES[state]}</span>
    </span>
  );
}

/** An item that has nothing to open. */
export function Note({ icon, children }: { icon: ComponentChildren; children: ComponentChildren }) {
  return (
    <p class="note">
      {icon}
      <span>{children}</span>
    </p>
  );
}

/** The input or output of a call, as JSON or text. */
export function Detail({ name, text }: { name: string; text: string }) {
  if (text === "") return null;
  return (
    <div class="detail" role="group" aria-label={name}>
      <h3>{name}</h3>
      <pre tabIndex={0}>{text}</pre>
    </div>
  );
}
