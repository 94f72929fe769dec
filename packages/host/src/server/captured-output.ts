/** The most that is held of one output: both of a program fit into one message, whatever they consist of. */
const MAX_HELD = 5 * 1024 * 1024;
/** The most that is held of all outputs together. */
const MAX_HELD_TOGETHER = 64 * 1024 * 1024;

export interface CapturedOutput {
  readonly text: string;
  readonly capReached: boolean;
}

/** How much output is held of programs that run. */
export class HeldOutputs {
  #bytes = 0;

  get left(): number {
    return MAX_HELD_TOGETHER - this.#bytes;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }
}

/** One output, of which only the first bytes count if it has a cap. */
export class CappedOutput {
  readonly #cap: number;
  readonly #held: HeldOutputs | undefined;
  readonly #pieces: Uint8Array[] = [];
  #taken = 0;
  capReached = false;

  /** `held`: what is taken is held until the end. */
  constructor(cap: number | undefined, held: HeldOutputs | undefined) {
    this.#cap = Math.min(
      cap ?? Number.POSITIVE_INFINITY,
      held === undefined ? Number.POSITIVE_INFINITY : MAX_HELD,
    );
    this.#held = held;
  }

  /** What of it counts; undefined if it has had its share. */
  take(bytes: Uint8Array): Uint8Array | undefined {
    if (this.capReached) return undefined;
    const room = Math.min(this.#cap - this.#taken, this.#held?.left ?? Number.POSITIVE_INFINITY);
    const taken = bytes.subarray(0, room);
    this.#taken += taken.length;
    this.capReached = taken.length === room;
    if (this.#held !== undefined) {
      this.#held.add(taken.length);
      this.#pieces.push(taken);
    }
    return taken;
  }

  /** What was held. Afterwards nothing is. */
  captured(): CapturedOutput {
    const text = Buffer.concat(this.#pieces).toString();
    if (this.#held !== undefined) this.#held.add(-this.#taken);
    this.#pieces.length = 0;
    return { text, capReached: this.capReached };
  }
}
