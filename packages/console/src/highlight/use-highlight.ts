import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import type { TokenRun } from "./token-runs.ts";

/** Code with more characters stays plain, because highlighting blocks the page. */
const MAX_LENGTH = 10_000;
/** Code is highlighted when it has not changed for this long. A running answer changes more often than that. */
const QUIET_MS = 150;
/** Code this close to the visible part is highlighted. */
const NEAR = "400px";

/** Highlighted text. It may be only the beginning of the text that is shown. */
export interface Highlighted {
  readonly text: string;
  readonly runs: readonly TokenRun[];
}

/** Highlights code once it is complete and near the visible part. Undefined until then. */
export function useHighlight(
  place: RefObject<Element | null>,
  text: string,
  language: string | undefined,
): Highlighted | undefined {
  const found = useSignal<Highlighted | undefined>(undefined);
  const isPlain = language === undefined || text === "" || text.length > MAX_LENGTH;
  useEffect(() => {
    if (isPlain) return undefined;
    const stop = new AbortController();
    const work = async () => {
      await near(place.current, stop.signal);
      const { highlightedRuns } = await import("./grammars.ts");
      await idle();
      if (stop.signal.aborted) return;
      const runs = highlightedRuns(text, language);
      if (runs !== undefined) found.value = { text, runs };
    };
    // If the grammars cannot be loaded, for example after an update of the host, the code stays plain.
    const timer = setTimeout(() => void work().catch(() => {}), QUIET_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [place, text, language, isPlain, found]);
  const { value } = found;
  return !isPlain && value !== undefined && text.startsWith(value.text) ? value : undefined;
}

/** Resolves when the page is idle. In Safari, which has no `requestIdleCallback`, resolves in a later task. */
function idle(): Promise<void> {
  return new Promise((resolve) => {
    if ("requestIdleCallback" in window) requestIdleCallback(() => resolve(), { timeout: 1_000 });
    else setTimeout(resolve);
  });
}

/** Resolves when an element comes near the visible part, or `signal` is aborted. */
function near(element: Element | null, signal: AbortSignal): Promise<void> {
  if (element === null) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      seen.disconnect();
      resolve();
    };
    const seen = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) end();
      },
      { rootMargin: NEAR },
    );
    signal.addEventListener("abort", end, { once: true });
    seen.observe(element);
  });
}
