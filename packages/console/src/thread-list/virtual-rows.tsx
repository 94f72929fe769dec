import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { rowAt, rowTops } from "./row-tops.ts";

/** Rows above and below the visible part that are kept, so that fast scrolling shows no gaps. */
const MARGIN_ROWS = 8;

interface Props<T> {
  readonly items: readonly T[];
  readonly label: string;
  heightOf(item: T): number;
  keyOf(item: T): string;
  render(item: T): ComponentChildren;
  /** Called with the rows that are in the document. */
  onSight(items: readonly T[], isEnd: boolean): void;
}

/** A list that has only the visible rows in the document. */
export function VirtualRows<T>({ items, label, heightOf, keyOf, render, onSight }: Props<T>) {
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const height = useSignal(0);
  const tops = useMemo(() => rowTops(items, heightOf), [items, heightOf]);
  useEffect(() => {
    const element = box.current!;
    const read = () => {
      top.value = element.scrollTop;
      height.value = element.clientHeight;
    };
    const resized = new ResizeObserver(read);
    resized.observe(element);
    element.addEventListener("scroll", read, { passive: true });
    read();
    return () => {
      resized.disconnect();
      element.removeEventListener("scroll", read);
    };
  }, [top, height]);
  const first = Math.max(0, rowAt(tops, top.value) - MARGIN_ROWS);
  const end = Math.min(items.length, rowAt(tops, top.value + height.value) + 1 + MARGIN_ROWS);
  useEffect(() => {
    if (height.value > 0) onSight(items.slice(first, end), end >= items.length);
  }, [first, end, items, height.value, onSight]);
  return (
    <div class="rows" ref={box}>
      <ul aria-label={label} onKeyDown={moveFocus} style={{ height: `${tops[items.length]}px` }}>
        {items.slice(first, end).map((item, index) => (
          <li
            key={keyOf(item)}
            aria-setsize={items.length}
            aria-posinset={first + index + 1}
            style={{ transform: `translateY(${tops[first + index]}px)`, height: `${heightOf(item)}px` }}
          >
            {render(item)}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Arrow keys move between rows. */
function moveFocus(event: KeyboardEvent): void {
  if (event.altKey) return;
  const row = (event.target as Element).closest("li");
  const next =
    event.key === "ArrowDown"
      ? row?.nextElementSibling
      : event.key === "ArrowUp" && row?.previousElementSibling;
  if (!next) return;
  event.preventDefault();
  next.querySelector<HTMLElement>("a, button")?.focus();
  next.scrollIntoView({ block: "nearest" });
}
