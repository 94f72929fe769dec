import { join } from "node:path";
import { fault, messageOf } from "../errors.ts";
import type { Platform } from "../platform/platform.ts";
import { newKey, readKey } from "./seal-key.ts";

type KeyringPlatform = Pick<Platform, "files" | "liveness" | "keyring" | "timers" | "clock" | "ids">;

/** Time limit for an answer of the keyring, because it may hang or wait for a person. */
const ANSWER_MS = 3_000;
/** Delay before a keyring that did not answer is asked again. */
const AGAIN_MS = 30_000;

/** An encryption key, and the name of its item in the keyring. */
export interface EncryptionKey {
  readonly item: string;
  readonly key: Buffer;
}

/**
 * Encryption keys in the operating system's keyring. `credentials/keyring.json` in the home names the keyring item of
 * the current key; it is not in the store, because keyring and item belong to the machine. Each encrypted credential
 * names the item of its own key, so that a key that is still needed is never replaced. Each key is read once per
 * process. Failures throw `keyringUnavailable`.
 */
export class KeyringKeys {
  readonly #folder: string;
  readonly #platform: KeyringPlatform;
  readonly #known = new Map<string, Buffer>();
  readonly #asked = new Map<string, Promise<Buffer | undefined>>();
  #current: Promise<EncryptionKey> | undefined;
  #failure: { readonly why: string; readonly until: number } | undefined;

  constructor(home: string, platform: KeyringPlatform) {
    this.#folder = join(home, "credentials");
    this.#platform = platform;
  }

  /** Returns the key of an existing item. */
  async of(item: string): Promise<Buffer> {
    const key = await this.#find(item);
    if (key === undefined) throw fault("keyringUnavailable", "it has, or shows, no key for this home");
    return key;
  }

  /** Returns the key for new credentials. Creates it if it does not exist. */
  current(): Promise<EncryptionKey> {
    this.#current ??= this.#readOrMake().catch((cause: unknown) => {
      this.#current = undefined;
      throw cause;
    });
    return this.#current;
  }

  /** Returns why the keyring is unavailable; undefined if it is available. Creates nothing. */
  async problem(): Promise<string | undefined> {
    try {
      await this.#find((await this.#named()) ?? "none");
      return undefined;
    } catch {
      return this.#failure?.why ?? "it does not answer";
    }
  }

  async #readOrMake(): Promise<EncryptionKey> {
    const { liveness, files, ids, keyring } = this.#platform;
    // The key is first read without the lock, because a hanging keyring must not block another host.
    const known = await this.#named();
    const found = await this.#find(known ?? "none");
    if (known !== undefined && found !== undefined) return { item: known, key: found };
    return liveness.exclusively(join(this.#folder, "keyring.lock"), async () => {
      // Another host may have created the key in between.
      const made = await this.#named();
      const other = made === undefined || made === known ? undefined : await this.#find(made);
      if (made !== undefined && other !== undefined) return { item: made, key: other };
      const item = `credentials ${ids.uuid()}`;
      const key = newKey(ids);
      await this.#bounded((signal) => keyring.set(item, key.toString("base64url"), signal));
      await files.replaceText(join(this.#folder, "keyring.json"), `${JSON.stringify({ item })}\n`);
      this.#known.set(item, key);
      return { item, key };
    });
  }

  async #named(): Promise<string | undefined> {
    const text = await this.#platform.files.readText(join(this.#folder, "keyring.json"));
    try {
      const { item } = JSON.parse(text ?? "{}") as { item?: unknown };
      return typeof item === "string" ? item : undefined;
    } catch {
      return undefined;
    }
  }

  /** Reads an item. Concurrent reads of one item share one request. */
  async #find(item: string): Promise<Buffer | undefined> {
    const known = this.#known.get(item) ?? this.#asked.get(item);
    if (known !== undefined) return known;
    const request = this.#bounded((signal) => this.#platform.keyring.get(item, signal))
      .then((text) => {
        const key = readKey(text);
        if (key !== undefined) this.#known.set(item, key);
        return key;
      })
      .finally(() => this.#asked.delete(item));
    this.#asked.set(item, request);
    return request;
  }

  async #bounded<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { timers, clock } = this.#platform;
    if (this.#failure !== undefined && clock.monotonic() < this.#failure.until)
      throw fault("keyringUnavailable", this.#failure.why);
    const stop = new AbortController();
    let cancel = (): void => {};
    const late = new Promise<never>((_resolve, reject) => {
      cancel = timers.after(ANSWER_MS, () => {
        reject(new Error(`no answer within ${ANSWER_MS / 1000} s`));
        stop.abort();
      });
    });
    try {
      const answer = await Promise.race([ask(stop.signal), late]);
      this.#failure = undefined;
      return answer;
    } catch (cause) {
      const why = messageOf(cause);
      this.#failure = { why, until: clock.monotonic() + AGAIN_MS };
      throw fault("keyringUnavailable", why);
    } finally {
      cancel();
    }
  }
}
