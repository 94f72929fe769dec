import assert from "node:assert/strict";

/** The fields of a record that tests use. */
export interface JournalRecord {
  readonly type: string;
  readonly turnId?: string;
  readonly epoch?: number;
  readonly item?: { readonly id: string; readonly type: string };
  readonly callId?: string;
  readonly call?: { readonly callId: string };
  readonly childId?: string;
  readonly requestId?: number;
  readonly request?: { readonly id: number };
  readonly answer?: { readonly kind: string; readonly result?: unknown };
  readonly [member: string]: unknown;
}

interface Commit {
  readonly seq: number;
  readonly epoch: number;
  readonly prev: number;
  readonly records: readonly JournalRecord[];
}

/** Files, real or not. */
export interface Texts {
  readonly paths: readonly string[];
  text(path: string): string | undefined;
}

/** The journals on a disk. A power cut may leave files without a complete first line, which do not count. */
export function journals(disk: Texts): readonly string[] {
  return disk.paths.filter((path) => path.endsWith(".jsonl") && disk.text(path)!.includes("\n"));
}

/** The complete commits of a journal. */
export function commitsOf(disk: Texts, path: string): readonly Commit[] {
  const lines = disk.text(path)!.split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Commit);
}

export function recordsOf(disk: Texts, path: string): readonly JournalRecord[] {
  return commitsOf(disk, path).flatMap(({ records }) => records);
}

/**
 * Checks what must hold for every journal once its thread is not loaded, whatever happened to the hosts that wrote
 * it. `unused`: nothing was written since a power cut, so a torn line may still be there.
 */
export function checkJournals(disk: Texts, { unused = false } = {}): void {
  for (const path of journals(disk)) {
    const text = disk.text(path)!;
    assert(unused || text.endsWith("\n"), `${path} ends in the middle of a line`);
    const commits = commitsOf(disk, path);
    const records = commits.flatMap((commit) => commit.records);
    checkOrder(path, commits);
    checkLife(path, records);
    checkOnce(path, records);
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

/**
 * Loads and unloads alternate. Every turn starts and ends exactly once, within one load. Terminals end within it,
 * too.
 */
function checkLife(path: string, records: readonly JournalRecord[]): void {
  let loaded = true;
  let turn: string | undefined;
  const open = new Set<string>();
  const ended = new Set<string>();
  const terminals = new Set<string>();
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
        assert.deepEqual([...terminals], [], `${where} with terminals`);
        loaded = false;
        break;
      case "turnStarted":
        assert(loaded && turn === undefined && !ended.has(turnId!), where);
        turn = turnId;
        break;
      case "itemStarted":
        assert.equal(turn, turnId, where);
        // A compaction that failed has no end.
        if (record.item!.type !== "contextCompaction") open.add(record.item!.id);
        break;
      case "itemCompleted":
        if (record.item!.type !== "contextCompaction") assert(open.delete(record.item!.id), where);
        break;
      case "terminalLeft":
        assert(open.delete(record.itemId as string), where);
        terminals.add(record.itemId as string);
        break;
      case "terminalEnded":
        assert(terminals.delete(record.item!.id), where);
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

/**
 * Checks what may be recorded only once: the answer to a request, the output of a call, the end of a child, a posted
 * choice.
 */
function checkOnce(path: string, records: readonly JournalRecord[]): void {
  const seen = new Set<string>();
  const known = new Set<string>();
  const sent = (key: string) => known.add(key);
  const done = (key: string) => {
    assert(known.has(key), `${path}: ${key} without a beginning`);
    assert(!seen.has(key), `${path}: ${key} twice`);
    seen.add(key);
  };
  for (const { type, callId, childId, requestId, request, call, choice, event } of records) {
    if (type === "requestSent") sent(`question ${request!.id}`);
    if (type === "requestResolved") done(`question ${requestId}`);
    if (type === "toolCalled") sent(`call ${(call as { callId: string }).callId}`);
    if (type === "toolAnswered") done(`call ${callId}`);
    if (type === "childDue") sent(`child ${childId}`);
    if (type === "childEnded") done(`child ${childId}`);
    if (type === "choiceMade") sent(`choice ${(choice as { requestId: number }).requestId}`);
    if (type === "choicePosted") done(`choice ${requestId}`);
    // A fork contains the events that the model of the original thread was shown, without the records of their
    // arrival.
    if (type === "eventReceived" || type === "eventInjected") sent(`event ${(event as { id: string }).id}`);
    if (type === "eventInjected") done(`event ${(event as { id: string }).id}`);
  }
}
