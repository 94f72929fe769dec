import assert from "node:assert/strict";

interface Record {
  readonly type: string;
  readonly turnId?: string;
  readonly epoch?: number;
  readonly item?: { readonly id: string; readonly type: string };
}

interface Commit {
  readonly seq: number;
  readonly epoch: number;
  readonly prev: number;
  readonly records: readonly Record[];
}

/** Files, real or not. */
export interface Texts {
  readonly paths: readonly string[];
  text(path: string): string | undefined;
}

/** The journals on a disk. A power cut may leave files of which not even the first line is whole: those are none. */
export function journals(disk: Texts): readonly string[] {
  return disk.paths.filter((path) => path.endsWith(".jsonl") && disk.text(path)!.includes("\n"));
}

/**
 * What must hold of every journal once its thread is not loaded, whatever happened to the hosts that wrote it.
 * `unused`: nobody has written to them since, so what a power cut tore may still be there.
 */
export function checkJournals(disk: Texts, { unused = false } = {}): void {
  for (const path of journals(disk)) {
    const text = disk.text(path)!;
    assert(unused || text.endsWith("\n"), `${path} ends in the middle of a line`);
    const commits = text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Commit);
    checkOrder(path, commits);
    checkLife(
      path,
      commits.flatMap(({ records }) => records),
    );
  }
  const claims = disk.paths.filter((path) => /\/live\/[^.]+$/.test(path));
  assert.deepEqual(claims, [], "claims on threads that nobody has loaded");
}

function checkOrder(path: string, commits: readonly Commit[]): void {
  commits.forEach(({ seq, prev, epoch }, at) => {
    assert.deepEqual([seq, prev], [at + 1, at], `${path}: the seq of commit ${at + 1} and what it follows`);
    assert(at === 0 || epoch >= commits[at - 1]!.epoch, `${path}: commit ${seq} is of an older epoch`);
  });
}

/** Loads and unloads take turns; every turn starts once, in a load, and ends once, in the same. */
function checkLife(path: string, records: readonly Record[]): void {
  let loaded = true;
  let turn: string | undefined;
  const open = new Set<string>();
  const ended = new Set<string>();
  assert.equal(records[0]?.type, "created", path);
  for (const record of records) {
    const { type, turnId } = record;
    const where = `${path}: ${type} ${turnId ?? ""}`;
    switch (type) {
      case "opened":
        assert(!loaded || turn === undefined, `${where} while a turn runs`);
        loaded = true;
        break;
      case "closed":
        assert(loaded, `${where} of a thread that is not loaded`);
        assert.equal(turn, undefined, `${where} while a turn runs`);
        loaded = false;
        break;
      case "turnStarted":
        assert(loaded && turn === undefined && !ended.has(turnId!), where);
        turn = turnId;
        break;
      case "itemStarted":
        assert.equal(turn, turnId, where);
        // A compaction that did not come about has no end.
        if (record.item!.type !== "contextCompaction") open.add(record.item!.id);
        break;
      case "itemCompleted":
        if (record.item!.type !== "contextCompaction") assert(open.delete(record.item!.id), where);
        break;
      case "turnEnded":
        assert.equal(turn, turnId, where);
        assert.deepEqual([...open], [], `${where} with items open`);
        ended.add(turnId!);
        turn = undefined;
    }
  }
  assert.equal(turn, undefined, `${path}: a turn without an end`);
  assert(!loaded, `${path}: a load without an end`);
}
