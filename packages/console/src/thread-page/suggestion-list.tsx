import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import "../style/suggestions.css";
import type { SuggestionsProps } from "./composer.tsx";

export interface Suggestion {
  readonly key: string;
  readonly label: ComponentChildren;
  readonly description?: string;
  /** `isFinal`: the user will type nothing more, for example after Enter. */
  choose(isFinal: boolean): void;
}

interface ListProps extends Pick<SuggestionsProps, "trigger" | "keys" | "activeId" | "onDismiss"> {
  readonly id: string;
  readonly name: string;
  readonly suggestions: readonly Suggestion[];
  /** The text that is shown for an empty list. */
  readonly empty: string;
}

/**
 * The list beside the field. The focus stays in the field, which names the active option (`aria-activedescendant`):
 * arrows move, Enter and Tab choose, Escape closes.
 */
export function SuggestionList({
  id,
  name,
  suggestions,
  empty,
  trigger: { query },
  keys,
  activeId,
  onDismiss,
}: ListProps) {
  /**
   * The option that the user moved to by arrow keys. It stays active when better matches arrive, until the next
   * letter is typed.
   */
  const moved = useSignal<{ readonly query: string; readonly key: string } | undefined>(undefined);
  const list = useRef<HTMLDivElement>(null);
  const { value: last } = moved;
  const lastAt = last?.query === query ? suggestions.findIndex(({ key }) => key === last.key) : 0;
  const at = Math.min(Math.max(0, lastAt), suggestions.length - 1);
  const optionId = (nth: number) => `${id}-${nth}`;
  const move = (step: number) => {
    moved.value = { query, key: suggestions.at((at + step) % suggestions.length)!.key };
  };
  useLayoutEffect(() => {
    activeId.value = at < 0 ? undefined : optionId(at);
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  });
  useEffect(
    () => () => {
      activeId.value = undefined;
      keys.current = undefined;
    },
    [activeId, keys],
  );
  keys.current = (event) => {
    if (event.key === "Escape") onDismiss();
    else if (suggestions.length === 0) return false;
    else if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey && !event.altKey)
      suggestions[at]!.choose(event.key === "Enter");
    else return false;
    return true;
  };
  return (
    <div class="suggestions">
      <p class={suggestions.length === 0 ? "dim" : "visually-hidden"} role="status">
        {suggestions.length === 0 ? empty : `${name}: ${suggestions.length}. Arrows choose, Enter inserts.`}
      </p>
      <div
        ref={list}
        id={id}
        role="listbox"
        tabIndex={-1}
        aria-label={name}
        hidden={suggestions.length === 0}
        // So that the field keeps the focus.
        onMouseDown={(event) => event.preventDefault()}
      >
        {suggestions.map(({ key, label, description, choose }, nth) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus, and handles the keys.
          <div
            key={key}
            id={optionId(nth)}
            role="option"
            tabIndex={-1}
            aria-selected={nth === at}
            onClick={() => choose(true)}
          >
            <span class="path">{label}</span>
            {description === undefined ? null : <span class="dim">{description}</span>}
          </div>
        ))}
      </div>
    </div>
  );
}
