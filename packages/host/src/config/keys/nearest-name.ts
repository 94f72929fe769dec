/**
 * Returns the most similar name; null if none is similar. A third of its letters may be wrong, missing, additional or
 * swapped.
 */
export function nearestName(misspelled: string, names: readonly string[]): string | null {
  const wanted = folded(misspelled);
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of names) {
    const most = Math.min(
      best?.distance ?? Number.POSITIVE_INFINITY,
      Math.max(1, Math.floor(name.length / 3)),
    );
    const distance = distanceOf(wanted, folded(name));
    if (distance <= most && distance < (best?.distance ?? Number.POSITIVE_INFINITY))
      best = { name, distance };
  }
  return best?.name ?? null;
}

/** Normalizes the notation: `model-provider` and `modelProvider` become `model_provider`. */
function folded(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replaceAll("-", "_");
}

/** Edit distance: the number of letters to insert, remove, replace or swap with the next one. */
function distanceOf(from: string, to: string): number {
  // Names whose lengths differ by more than a third are never similar.
  if (Math.abs(from.length - to.length) > Math.max(1, to.length / 3)) return Number.POSITIVE_INFINITY;
  let before: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let row = 1; row <= from.length; row++) {
    const now = [row];
    for (let at = 1; at <= to.length; at++) {
      const isSame = from[row - 1] === to[at - 1];
      let least = Math.min(above[at]! + 1, now[at - 1]! + 1, above[at - 1]! + (isSame ? 0 : 1));
      if (row > 1 && at > 1 && from[row - 1] === to[at - 2] && from[row - 2] === to[at - 1])
        least = Math.min(least, before[at - 2]! + 1);
      now.push(least);
    }
    before = above;
    above = now;
  }
  return above[to.length]!;
}
