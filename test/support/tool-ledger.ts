// Records what one tool server saw of calls and threads while its hosts were killed and restarted, and checks it at
// the end.
import assert from "node:assert/strict";

/** The part of a journal record that is checked here. */
export interface JournalRecord {
  readonly type: string;
  readonly at?: number;
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
  readonly tool: string;
  /** How often it came. */
  came: number;
  /** The times, by the hosts' clock, at which the result was accepted. */
  readonly taken: number[];
}

/** The tool whose calls may be repeated, and the tool whose calls may not. */
export const AGAIN = "again";
export const ONCE = "once";

export const resultOf = (callId: string): string => `the result of ${callId}`;

/** Limit on the hosts that may die in a row during a turn. After that, the turn is not continued. */
const MAX_LOST_HOSTS = 3;
const GIVEN_UP = "The call was given up before it had an answer.";
const RUNNING = /is still running/;
const UNKNOWN = /whether it had its effect is not known/;
const LATE = /did not answer (within|in time)/;

export class ToolLedger {
  readonly calls = new Map<string, LedgerCall>();
  readonly closings = new Map<string, number>();

  invoked(threadId: string, callId: string, tool: string): void {
    const call = this.calls.get(callId) ?? { threadId, tool, came: 0, taken: [] };
    call.came++;
    this.calls.set(callId, call);
  }

  taken(callId: string, at: number): void {
    this.calls.get(callId)!.taken.push(at);
  }

  closed(threadId: string): void {
    this.closings.set(threadId, (this.closings.get(threadId) ?? 0) + 1);
  }

  /**
   * Checks an ended thread against everything that the tool server saw of it. `shown`: the outputs that the model
   * got. `powerCuts`: whether there were power cuts, which may have removed unsynced data.
   */
  check(
    threadId: string,
    records: readonly JournalRecord[],
    shown: ReadonlyMap<string, Set<string>>,
    { powerCuts = false }: { readonly powerCuts?: boolean } = {},
  ): void {
    const again = new Map<string, boolean>();
    const outputs = new Map<string, unknown>();
    /** Calls that were given up, with the number of hosts that had died by then. */
    const givenUp = new Map<string, number>();
    /** The number of hosts that died during the turn since the model's last complete answer. */
    let lostHosts = 0;
    for (const { type, at = 0, callId = "", output, again: may } of records) {
      if (type === "usageReported" || type === "turnStarted") lostHosts = 0;
      if (type === "adopted") lostHosts++;
      if (type === "toolDispatched") again.set(callId, may!);
      if (type === "toolAnswered") {
        assert(!outputs.has(callId), `${callId} is answered twice`);
        outputs.set(callId, output);
        this.#checkAnswer(callId, output, again.get(callId), at);
        // At the deadline, the server also gets a cancel notice.
        if (givenUp.delete(callId)) this.#checkUnknown(callId, output, at);
      }
      if (type === "callCancelled" && !outputs.has(callId)) givenUp.set(callId, lostHosts);
    }
    for (const [callId, hosts] of givenUp) {
      // Hosts that died while the turn only waited do not count, so there may have been more.
      assert(hosts >= MAX_LOST_HOSTS, `${callId} was given up, and why?`);
      outputs.set(callId, GIVEN_UP);
    }
    for (const [callId, { threadId: of, tool, came }] of this.calls) {
      if (of !== threadId) continue;
      if (tool === ONCE) assert.equal(came, 1, `${callId} may be sent once only`);
      // A call that can be sent again need not survive a power cut.
      if (tool === ONCE || !powerCuts)
        assert(again.has(callId), `${callId} was sent, and nothing was written of that`);
    }
    for (const [callId, seen] of shown) {
      if (!again.has(callId) || powerCuts) continue;
      assert.deepEqual([...seen], [JSON.stringify(outputs.get(callId))], `what ${callId} came to`);
    }
    this.#checkLate(records, outputs);
    this.#checkClosings(threadId, records);
  }

  /** A result that comes after the model got an interim output is received once and shown once. */
  #checkLate(records: readonly JournalRecord[], outputs: ReadonlyMap<string, unknown>): void {
    const received = new Map<string, string>();
    const injected = new Set<string>();
    for (const { type, event, at = 0 } of records) {
      if (event === undefined) continue;
      const { id, call, output } = event;
      if (type === "eventReceived") {
        assert(!received.has(call.callId), `${call.callId} has two late results`);
        assert.match(String(outputs.get(call.callId)), RUNNING, call.callId);
        if (output !== resultOf(call.callId)) this.#checkUnknown(call.callId, output, at);
        received.set(call.callId, id);
      }
      if (type === "eventInjected") {
        assert(!injected.has(id), `the late result of ${call.callId} is shown twice`);
        assert.equal(received.get(call.callId), id);
        injected.add(id);
      }
    }
  }

  #checkAnswer(callId: string, output: unknown, again: boolean | undefined, at: number): void {
    const call = this.calls.get(callId);
    // The acknowledgement need not have been recorded: the host may have died before.
    if (output === resultOf(callId)) return assert(call !== undefined, `${callId}: from nowhere`);
    if (RUNNING.test(String(output))) return;
    // A server that could not answer discovery in time has no tools.
    if (again === undefined) return assert.match(String(output), /There is no tool named/, callId);
    if (!LATE.test(String(output)))
      assert.equal(again, false, `${callId} can be sent again, and was given up`);
    this.#checkUnknown(callId, output, at);
  }

  /** A call may be given up only if no host has accepted its result before. */
  #checkUnknown(callId: string, output: unknown, at: number): void {
    assert(UNKNOWN.test(String(output)) || LATE.test(String(output)), `${callId}: ${output}`);
    const before = this.calls.get(callId)?.taken.filter((taken) => taken < at) ?? [];
    assert.deepEqual(before, [], `the result of ${callId} is lost`);
  }

  /** For each recorded notice, at most one is sent, and for each close, at most one is recorded. */
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
