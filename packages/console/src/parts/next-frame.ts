/** The interval at which a page in the background is updated, because such a page gets no frames. */
const HIDDEN_MS = 250;

const due = new Map<object, () => void>();

/** Runs `work` in the next frame. A second call for the same owner in between replaces the first. */
export function onNextFrame(owner: object, work: () => void): void {
  if (due.size === 0) {
    if (document.hidden) setTimeout(runAll, HIDDEN_MS);
    else requestAnimationFrame(runAll);
  }
  due.set(owner, work);
}

function runAll(): void {
  const all = [...due.values()];
  due.clear();
  for (const work of all) work();
}
