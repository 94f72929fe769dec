/** The shortest time between two reads. */
const PACE_MS = 500;
/** A read that took long is repeated after this many times as long, so that the host has time for other work. */
const REST_FACTOR = 10;

/** Runs a read when it is requested: one at a time, and with a pause between two reads. */
export class ReadThrottle {
  readonly #read: () => Promise<void>;
  #isReading = false;
  #isWanted = false;
  #isClosed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(read: () => Promise<void>) {
    this.#read = read;
  }

  /** Reads soon. Requests while a read is due or runs cause one more read. */
  request(): void {
    this.#isWanted = true;
    if (!this.#isReading && this.#timer === undefined) void this.#run();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    if (this.#isClosed || !this.#isWanted) return;
    this.#isWanted = false;
    this.#isReading = true;
    const from = performance.now();
    await this.#read();
    this.#isReading = false;
    const rest = Math.max(PACE_MS, REST_FACTOR * (performance.now() - from));
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#run();
    }, rest);
  }
}
