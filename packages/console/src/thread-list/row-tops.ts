/** The position of each row's top in pixels, and of the end of the last row. */
export function rowTops<T>(items: readonly T[], heightOf: (item: T) => number): Float64Array {
  const tops = new Float64Array(items.length + 1);
  for (let at = 0; at < items.length; at++) tops[at + 1] = tops[at]! + heightOf(items[at]!);
  return tops;
}

/** The row at a vertical position; the last row if the position is below the end. */
export function rowAt(tops: Float64Array, pixels: number): number {
  let low = 0;
  let high = Math.max(0, tops.length - 2);
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (tops[middle]! <= pixels) low = middle;
    else high = middle - 1;
  }
  return low;
}
