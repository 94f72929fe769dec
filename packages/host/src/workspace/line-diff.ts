/**
 * A changed run of lines: `old` lines from `at` of the old file are replaced by `now` lines from `nowAt` of the new
 * file.
 */
export interface LineChange {
  readonly at: number;
  readonly old: number;
  readonly nowAt: number;
  readonly now: number;
}

/**
 * Limit on the differences, because the search takes quadratic time in their number. Beyond it, the differing part
 * counts as replaced as a whole.
 */
const MAX_DIFFERENCES = 1500;

/**
 * The shortest edit from one list of lines to another (Myers' algorithm), as runs in order. Lines include their line
 * ends.
 */
export function lineChanges(before: readonly string[], after: readonly string[]): readonly LineChange[] {
  let head = 0;
  const shorter = Math.min(before.length, after.length);
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail++;
  const old = before.slice(head, before.length - tail);
  const now = after.slice(head, after.length - tail);
  if (old.length === 0 && now.length === 0) return [];
  if (old.length === 0 || now.length === 0)
    return [{ at: head, old: old.length, nowAt: head, now: now.length }];
  return changesOf(old, now).map((change) => ({
    ...change,
    at: change.at + head,
    nowAt: change.nowAt + head,
  }));
}

/** Maps equal lines to equal numbers, because comparing numbers is faster. */
function numbered(...lists: readonly (readonly string[])[]): readonly Int32Array[] {
  const numbers = new Map<string, number>();
  return lists.map((list) =>
    Int32Array.from(list, (line) => {
      const known = numbers.get(line) ?? numbers.size;
      numbers.set(line, known);
      return known;
    }),
  );
}

function changesOf(before: readonly string[], after: readonly string[]): readonly LineChange[] {
  const [old, now] = numbered(before, after) as [Int32Array, Int32Array];
  const reached = furthest(old, now);
  if (reached === undefined) return [{ at: 0, old: old.length, nowAt: 0, now: now.length }];
  return runs(steps(reached, old.length, now.length));
}

/**
 * For each number of differences, how far each diagonal reaches into the old file. Undefined if there are too many
 * differences.
 */
function furthest(old: Int32Array, now: Int32Array): readonly Int32Array[] | undefined {
  const most = Math.min(old.length + now.length, MAX_DIFFERENCES);
  const rounds: Int32Array[] = [];
  const ends = new Int32Array(2 * most + 3);
  const middle = most + 1;
  for (let differences = 0; differences <= most; differences++) {
    for (let diagonal = -differences; diagonal <= differences; diagonal += 2) {
      const adds =
        diagonal === -differences ||
        (diagonal !== differences && ends[middle + diagonal - 1]! < ends[middle + diagonal + 1]!);
      let x = adds ? ends[middle + diagonal + 1]! : ends[middle + diagonal - 1]! + 1;
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x++;
      ends[middle + diagonal] = x;
      if (x >= old.length && x - diagonal >= now.length) {
        rounds.push(ends.slice(middle - differences - 1, middle + differences + 2));
        return rounds;
      }
    }
    rounds.push(ends.slice(middle - differences - 1, middle + differences + 2));
  }
  return undefined;
}

interface Step {
  readonly kind: "remove" | "add";
  readonly at: number;
  readonly nowAt: number;
}

/** Traces back from the end of both files; returns the removed and added lines, last first. */
function steps(reached: readonly Int32Array[], oldLength: number, nowLength: number): readonly Step[] {
  const found: Step[] = [];
  let x = oldLength;
  let y = nowLength;
  for (let differences = reached.length - 1; differences > 0; differences--) {
    const ends = reached[differences - 1]!;
    const end = (diagonal: number): number => ends[diagonal + differences] ?? -1;
    const diagonal = x - y;
    const adds =
      diagonal === -differences || (diagonal !== differences && end(diagonal - 1) < end(diagonal + 1));
    const from = adds ? diagonal + 1 : diagonal - 1;
    x = end(from);
    y = x - from;
    found.push({ kind: adds ? "add" : "remove", at: x, nowAt: y });
  }
  return found;
}

function runs(steps: readonly Step[]): readonly LineChange[] {
  const found: { at: number; old: number; nowAt: number; now: number }[] = [];
  for (const { kind, at, nowAt } of [...steps].reverse()) {
    let run = found.at(-1);
    if (run === undefined || run.at + run.old !== at || run.nowAt + run.now !== nowAt) {
      run = { at, old: 0, nowAt, now: 0 };
      found.push(run);
    }
    if (kind === "remove") run.old++;
    else run.now++;
  }
  return found;
}
