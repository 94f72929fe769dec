import type { Keyring } from "../../packages/host/src/platform/platform.ts";

/** A keyring in memory, which several hosts can share. */
export class FakeKeyring implements Keyring {
  readonly items = new Map<string, string>();
  /** The questions that the keyring was asked, in order. */
  readonly asked: string[] = [];
  /** Called before each answer. A test can let it throw, or never resolve. */
  before: (question: "get" | "set", signal: AbortSignal) => Promise<void> = async () => {};

  async get(item: string, signal: AbortSignal): Promise<string | undefined> {
    this.asked.push(`get ${item}`);
    await this.before("get", signal);
    return this.items.get(item);
  }

  async set(item: string, value: string, signal: AbortSignal): Promise<void> {
    this.asked.push(`set ${item}`);
    await this.before("set", signal);
    this.items.set(item, value);
  }

  refuse(why = "AccessDenied"): void {
    this.before = () => Promise.reject(new Error(why));
  }

  answer(): void {
    this.before = async () => {};
  }
}
