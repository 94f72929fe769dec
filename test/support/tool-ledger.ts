// What one tool server saw of calls and threads over all lives of its hosts, and what has to hold of it in the end.
import assert from "node:assert/strict";

/** Of a journal: as much as is looked at here. */
export interface JournalRecord {
  readonly type: string;
  readonly callId?: string;
  readonly again?: boolean;
  readonly output?: unknown;
  readonly event?: {
    readonly id: string;
    readonly kind: "event" | "result";
    readonly call: { readonly callId: string };
    readonly output: unknown;
  };
}

export interface LedgerCall {
  readonly threadId: string;
  /** Which life of the host sent it, each time that it came. */
  readonly came: unknown[];
  /** Which life took its result, each time that one did. */
  readonly taken: unknown[];
}

/** The tool that may be called again, and the one that may not. */
export const AGAIN = "again";
export const ONCE = "once";

export const resultOf = (callId: string): string => `the result of ${callId}`;

/** A turn that so many hosts were lost with is not tried again. */
const MAX_LOST_HOSTS = 3;
const GIVEN_UP = "The call was given up before it had an answer.";
const RUNNING = /is still running/;
const UNKNOWN = /whether it had its effect is not known/;

export class ToolLedger {
  readonly calls = new Map<string, LedgerCall>();
  readonly closings = new Map<string, number>();

  invoked(threadId: string, callId: string, life: unknown): void {
    const call = this.calls.get(callId) ?? { threadId, came: [], taken: [] };
    call.came.push(life);
    this.calls.set(callId, call);
  }

  taken(callId: string, life: unknown): void {
    this.calls.get(callId)!.taken.push(life);
  }

  closed(threadId: string): void {
    this.closings.set(threadId, (this.closings.get(threadId) ?? 0) + 1);
  }

  /** Holds a thread that is over against all that was seen of it. `shown`: what the model was shown as outputs. */
  check(threadId: string, records: readonly JournalRecord[], shown: ReadonlyMap<string, Set<string>>): void {
    const again = new Map<string, boolean>();
    const outputs = new Map<string, unknown>();
    /** Hosts that were lost with the turn since its model last said something to the end. */
    let lostHosts = 0;
    for (const { type, callId = "", output, again: may } of records) {
      if (type === "usageReported" || type === "turnStarted") lostHosts = 0;
      if (type === "adopted") lostHosts++;
      if (type === "toolDispatched") again.set(callId, may!);
      if (type === "toolAnswered") {
        assert(!outputs.has(callId), `${callId} is answered twice`);
        outputs.set(callId, output);
        this.#checkAnswer(callId, output, again.get(callId));
      }
      if (type === "callCancelled" && !outputs.has(callId)) {
        // Those that were lost while it only waited do not count, so there may have been more.
        assert(lostHosts >= MAX_LOST_HOSTS, `${callId} was given up, and why?`);
        outputs.set(callId, GIVEN_UP);
      }
    }
    for (const [callId, { threadId: of, came }] of this.calls) {
      if (of !== threadId) continue;
      assert(again.has(callId), `${callId} was sent, and nothing was written of that`);
      if (!again.get(callId)) assert.equal(came.length, 1, `${callId} may be sent once only`);
    }
    for (const [callId, seen] of shown) {
      if (!again.has(callId)) continue;
      assert.deepEqual([...seen], [JSON.stringify(outputs.get(callId))], `what ${callId} came to`);
    }
    this.#checkLate(records, outputs);
    this.#checkClosings(threadId, records);
  }

  /** What comes after the model was told that the call is still running is received once and shown once. */
  #checkLate(records: readonly JournalRecord[], outputs: ReadonlyMap<string, unknown>): void {
    const received = new Map<string, string>();
    const injected = new Set<string>();
    for (const { type, event } of records) {
      if (event === undefined) continue;
      const { id, call, output } = event;
      if (type === "eventReceived") {
        assert(!received.has(call.callId), `${call.callId} has two late results`);
        assert.match(String(outputs.get(call.callId)), RUNNING, call.callId);
        assert.equal(output, resultOf(call.callId));
        received.set(call.callId, id);
      }
      if (type === "eventInjected") {
        assert(!injected.has(id), `the late result of ${call.callId} is shown twice`);
        assert.equal(received.get(call.callId), id);
        injected.add(id);
      }
    }
  }

  #checkAnswer(callId: string, output: unknown, again: boolean | undefined): void {
    const call = this.calls.get(callId);
    // That it was taken need not have been heard: the host may have died in between.
    if (output === resultOf(callId)) return assert(call !== undefined, `${callId}: from nowhere`);
    if (RUNNING.test(String(output))) return;
    // A server that has had no time to tell its tools has none.
    if (again === undefined) return assert.match(String(output), /There is no tool named/, callId);
    assert.match(String(output), UNKNOWN, callId);
    assert.equal(again, false, `${callId} can be sent again, and was given up`);
    // What was acknowledged in the life that sent it had its effect.
    assert(call === undefined || !call.taken.includes(call.came[0]!), `the result of ${callId} is lost`);
  }

  /** One closing for each time that one was written down, at most, and that once for each time that it was closed. */
  #checkClosings(threadId: string, records: readonly JournalRecord[]): void {
    let untold = false;
    let notices = 0;
    for (const { type } of records) {
      if (type === "closed") untold = true;
      if (type === "opened") assert(!untold, "opened before its closing was told");
      if (type !== "notified") continue;
      assert(untold, "told without a closing, or a second time");
      untold = false;
      notices++;
    }
    assert(!untold, "a closing was never told");
    const heard = this.closings.get(threadId) ?? 0;
    assert(heard <= notices, `${threadId} was told closed ${heard} times, for ${notices} closings`);
  }
}
