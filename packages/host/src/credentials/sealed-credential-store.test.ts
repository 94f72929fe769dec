import { describe, expect, it } from "vitest";
import { FakeKeyring } from "../../../../test/support/fake-keyring.ts";
import { filesBelow, freshFolder, tracesOf } from "../../../../test/support/folder.ts";
import { nodePlatform } from "../platform/node.ts";
import type { Files, Liveness, Platform } from "../platform/platform.ts";
import { CredentialFiles, credentialFolder } from "../store/files/credential-files.ts";
import { credentialText, parseCredential } from "./credential-format.ts";
import { credentialLocation } from "./credential-location.ts";
import type { CredentialStoreMode } from "./credential-store.ts";
import { openCredentials } from "./open-credentials.ts";

const SECRET = "planted-value-0021";
const LATER = "planted-value-0022";
const UNAVAILABLE = { code: "keyringUnavailable" };

/** Locks of hosts in one process: those of a host that died are free. */
class Locks {
  readonly #holders = new Map<string, object>();

  of(host: object): Pick<Liveness, "exclusively"> {
    return {
      exclusively: async (path, work) => {
        while (this.#holders.has(path)) await new Promise((resolve) => setImmediate(resolve));
        this.#holders.set(path, host);
        try {
          return await work();
        } finally {
          this.#holders.delete(path);
        }
      },
    };
  }

  died(host: object): void {
    for (const [path, holder] of this.#holders) if (holder === host) this.#holders.delete(path);
  }
}

/** A home, and hosts on it that share a keyring. */
async function machine() {
  const home = await freshFolder();
  const keyring = new FakeKeyring();
  const locks = new Locks();
  const real = nodePlatform();
  const host = (mode: CredentialStoreMode = "auto", own: FakeKeyring = keyring) => {
    const self = {};
    let writing: (path: string) => Promise<void> = async () => {};
    const timers: (() => void)[] = [];
    const fallbacks: string[] = [];
    const moves: Promise<void>[] = [];
    let now = 0;
    const replaceText: Files["replaceText"] = async (path, text) => {
      await writing(path);
      await real.files.replaceText(path, text);
    };
    const platform: Platform = {
      ...real,
      files: Object.assign(Object.create(real.files) as Files, { replaceText }),
      liveness: { ...real.liveness, ...locks.of(self) },
      keyring: own,
      clock: { now: () => now, monotonic: () => now },
      timers: {
        soon: (run: () => void) => run(),
        after: (_ms: number, run: () => void) => {
          timers.push(run);
          return () => void timers.splice(timers.indexOf(run), 1);
        },
      },
    };
    const settings = { account: mode, mcp: mode };
    const credentials = openCredentials({
      home,
      platform,
      texts: new CredentialFiles(home, platform),
      settings: () => settings,
      fellBack: (why) => fallbacks.push(why),
      background: (_what, work) => void moves.push(work),
    });
    return {
      ...credentials,
      store: credentials.account,
      fallbacks,
      /** The time limits that run. */
      timers,
      moved: async () => void (await Promise.all(moves.splice(0))),
      pass: (ms: number) => (now += ms),
      /** Called with each file that is about to be replaced. */
      beforeWriting: (before: typeof writing) => (writing = before),
      die: () => locks.died(self),
    };
  };
  return { home, keyring, host };
}

describe("a credential where the keyring answers", () => {
  it("[ACCT-9] is in one file, sealed with a key that only the keyring has, and read by every host", async () => {
    const { home, keyring, host } = await machine();
    const [one, other] = [host("keyring"), host("auto")];
    await one.store.set("a", SECRET);
    expect(await tracesOf(home, SECRET)).toEqual([]);
    expect(await other.store.get("a")).toBe(SECRET);
    await other.store.set("a", LATER);
    expect(await one.store.get("a")).toBe(LATER);
    expect([...keyring.items.keys()]).toEqual([expect.stringMatching(/^credentials [0-9a-f-]{36}$/)]);
    const [key] = keyring.items.values();
    expect(await tracesOf(home, key!)).toEqual([]);
    await one.store.delete("a");
    expect(await other.store.get("a")).toBeUndefined();
  });

  it("[ACCT-9] asks the keyring once per process, and not for a credential that is not there", async () => {
    const { keyring, host } = await machine();
    const { store } = host();
    expect(await store.get("a")).toBeUndefined();
    expect(keyring.asked).toEqual([]);
    await store.set("a", SECRET);
    const before = keyring.asked.length;
    await Promise.all(["a", "b", "c"].map((key) => store.set(key, LATER)));
    expect(await store.get("a")).toBe(LATER);
    expect(keyring.asked).toHaveLength(before);
    const next = host();
    await Promise.all([next.store.get("a"), next.store.get("b")]);
    expect(keyring.asked).toHaveLength(before + 1);
  });

  it("[ACCT-9] is opened under its own name only", async () => {
    const { home, host } = await machine();
    const { store } = host();
    await store.set("a", SECRET);
    const texts = new CredentialFiles(home, nodePlatform());
    await texts.write("b", credentialText("b", parseCredential(await texts.read("a"), "a")!));
    await expect(store.get("b")).rejects.toMatchObject(UNAVAILABLE);
  });
});

describe("a credential where the keyring does not answer", () => {
  it("[ACCT-10] is in a file as it is, and the reason is given once", async () => {
    const { home, keyring, host } = await machine();
    keyring.refuse("AccessDenied");
    const { store, fallbacks, pass } = host();
    await store.set("a", SECRET);
    pass(60_000);
    await store.set("b", LATER);
    expect(await tracesOf(home, SECRET)).toHaveLength(1);
    expect(await store.get("a")).toBe(SECRET);
    expect(fallbacks).toEqual([expect.stringContaining("AccessDenied")]);
  });

  it("[ACCT-10] waits for a keyring that never answers no longer than its time limit, once", async () => {
    const { home, keyring, host } = await machine();
    const signals: AbortSignal[] = [];
    keyring.before = (_question, signal) => {
      signals.push(signal);
      return new Promise(() => {});
    };
    const { store, timers, fallbacks } = host();
    const stored = store.set("a", SECRET);
    while (timers.length === 0) await new Promise((resolve) => setImmediate(resolve));
    timers[0]!();
    await stored;
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(fallbacks).toEqual([expect.stringContaining("no answer within 3 s")]);
    // For a while it is not asked again.
    await store.set("a", LATER);
    expect(signals).toHaveLength(1);
    expect(await store.get("a")).toBe(LATER);
    expect(await tracesOf(home, LATER)).toHaveLength(1);
  });

  it("[ACCT-10] is refused where only the keyring may have it, and nothing is written", async () => {
    const { home, keyring, host } = await machine();
    keyring.refuse("AccessDenied");
    const { store } = host("keyring");
    await expect(store.set("a", SECRET)).rejects.toMatchObject(UNAVAILABLE);
    expect(await filesBelow(home)).toEqual([]);
  });

  it("[ACCT-10] is not taken for none when it is sealed, and can be replaced and deleted", async () => {
    const { keyring, host } = await machine();
    await host().store.set("a", SECRET);
    keyring.refuse();
    const { store, pass } = host();
    await expect(store.get("a")).rejects.toMatchObject(UNAVAILABLE);
    keyring.answer();
    pass(60_000);
    expect(await store.get("a")).toBe(SECRET);
    keyring.refuse();
    const other = host();
    await other.store.set("a", LATER);
    expect(await host().store.get("a")).toBe(LATER);
    await other.store.delete("a");
    expect(await host().store.get("a")).toBeUndefined();
  });

  it("[ACCT-10] gets a new key where the keyring has lost the old one, and nothing is overwritten there", async () => {
    const { keyring, host } = await machine();
    await host().store.set("a", SECRET);
    const lost = new FakeKeyring();
    const next = host("auto", lost);
    await expect(next.store.get("a")).rejects.toMatchObject(UNAVAILABLE);
    await next.store.set("b", LATER);
    expect(await next.store.get("b")).toBe(LATER);
    expect(lost.items.size).toBe(1);
    expect([...lost.items.keys()]).not.toEqual([...keyring.items.keys()]);
    expect(await host("auto", keyring).store.get("a")).toBe(SECRET);
  });
});

describe("a credential that was kept another way", () => {
  it("[ACCT-11] goes from a file to the keyring when a host reads it, and is in the clear nowhere then", async () => {
    const { home, host } = await machine();
    await host("file").store.set("a", SECRET);
    expect(await tracesOf(home, SECRET)).toHaveLength(1);
    const { store, moved } = host("auto");
    expect(await store.get("a")).toBe(SECRET);
    await moved();
    expect(await tracesOf(home, SECRET)).toEqual([]);
    expect(await store.get("a")).toBe(SECRET);
    expect(await host("keyring").store.get("a")).toBe(SECRET);
  });

  it("[ACCT-11] goes back to a file when the configuration says so", async () => {
    const { home, keyring, host } = await machine();
    await host("keyring").store.set("a", SECRET);
    const { store, moved } = host("file");
    expect(await store.get("a")).toBe(SECRET);
    await moved();
    keyring.refuse();
    expect(await host("file").store.get("a")).toBe(SECRET);
    expect(await tracesOf(home, SECRET)).toHaveLength(1);
  });

  it("[ACCT-11] stays in its file where the keyring does not answer, which is tried once", async () => {
    const { keyring, host } = await machine();
    await host("file").store.set("a", SECRET);
    keyring.refuse();
    const { store, moved, fallbacks, pass } = host();
    for (let reads = 0; reads < 3; reads++) {
      expect(await store.get("a")).toBe(SECRET);
      await moved();
      pass(60_000);
    }
    expect(keyring.asked).toHaveLength(1);
    expect(fallbacks).toHaveLength(1);
  });

  it.each(["get", "set", "keyring.json", "the credential"])(
    "[ACCT-11] is neither lost nor kept twice if the host dies on the way: before %s",
    async (step) => {
      const { home, keyring, host } = await machine();
      await host("file").store.set("a", SECRET);
      let died!: () => void;
      const dies = new Promise<void>((resolve) => (died = resolve));
      const dieAt = async (isNow: boolean): Promise<void> => {
        if (!isNow) return;
        died();
        await new Promise(() => {});
      };
      keyring.before = (asked) => dieAt(asked === step);
      const first = host();
      first.beforeWriting((path) =>
        dieAt(step === (path.endsWith("keyring.json") ? "keyring.json" : "the credential")),
      );
      expect(await first.store.get("a")).toBe(SECRET);
      await dies;
      first.die();
      keyring.answer();
      expect(await tracesOf(home, SECRET)).toHaveLength(1);
      const next = host();
      expect(await next.store.get("a")).toBe(SECRET);
      await next.moved();
      expect(await next.store.get("a")).toBe(SECRET);
      expect(await tracesOf(home, SECRET)).toEqual([]);
    },
  );

  it("[ACCT-11] is not put back by a move if it was replaced or deleted meanwhile", async () => {
    const { keyring, host } = await machine();
    for (const key of ["replaced", "deleted"]) await host("file").store.set(key, SECRET);
    let go!: () => void;
    const held = new Promise<void>((resolve) => (go = resolve));
    keyring.before = () => held;
    const { store, moved } = host();
    for (const key of ["replaced", "deleted"]) await store.get(key);
    const other = host("file");
    await other.store.set("replaced", LATER);
    await other.store.delete("deleted");
    go();
    await moved();
    expect(await store.get("replaced")).toBe(LATER);
    expect(await store.get("deleted")).toBeUndefined();
  });
});

it("[ACCT-12] is in memory alone where it is ephemeral, but for the key of seals", async () => {
  const { home, host } = await machine();
  const { store, seals } = host("ephemeral");
  await store.set("a", SECRET);
  expect(await store.get("a")).toBe(SECRET);
  expect(await filesBelow(home)).toEqual([]);
  expect(await host("auto").store.get("a")).toBeUndefined();
  const sealed = await seals.seal(SECRET);
  await store.delete("a");
  expect(await store.get("a")).toBeUndefined();
  const next = host("ephemeral");
  await next.seals.ready();
  expect(next.seals.open(sealed)).toBe(SECRET);
});

describe("the key of seals", () => {
  it("[ACCT-13] is a credential: with a keyring it is in no file in the clear, and hosts share it", async () => {
    const { home, host } = await machine();
    const sealed = await host().seals.seal(SECRET);
    for (const mode of ["keyring", "auto"] as const) {
      const { seals } = host(mode);
      await seals.ready();
      expect(seals.open(sealed)).toBe(SECRET);
    }
    const { store } = host();
    const key = (await store.get("seal"))!;
    expect(key).toHaveLength(43);
    expect(await tracesOf(home, key)).toEqual([]);
  });

  it("[ACCT-13] stays the same when it moves from a file into the keyring", async () => {
    const { host } = await machine();
    const sealed = await host("file").seals.seal(SECRET);
    const { seals, moved } = host();
    await seals.ready();
    await moved();
    for (const mode of ["keyring", "file"] as const) {
      const next = host(mode);
      await next.seals.ready();
      expect(next.seals.open(sealed)).toBe(SECRET);
    }
  });

  it("[ACCT-13] is not replaced while the keyring does not answer: another one seals meanwhile", async () => {
    const { keyring, host } = await machine();
    const sealed = await host().seals.seal(SECRET);
    keyring.refuse();
    const { seals, pass } = host();
    const meanwhile = await seals.seal(LATER);
    expect(seals.open(meanwhile)).toBe(LATER);
    expect(seals.open(sealed)).toBeUndefined();
    keyring.answer();
    const other = host();
    await other.seals.ready();
    expect([sealed, meanwhile].map((one) => other.seals.open(one))).toEqual([SECRET, LATER]);
    // The host that had to do without it has it now.
    pass(60_000);
    await seals.ready();
    expect([sealed, meanwhile].map((one) => seals.open(one))).toEqual([SECRET, LATER]);
  });

  it("[ACCT-13] seals nothing where only the keyring may have it and does not answer", async () => {
    const { keyring, host } = await machine();
    keyring.refuse();
    await expect(host("keyring").seals.seal(SECRET)).rejects.toMatchObject(UNAVAILABLE);
  });
});

it("[ACCT-14] says where credentials are kept, and why not in the keyring", async () => {
  const { home, keyring, host } = await machine();
  const place = (mode: CredentialStoreMode) =>
    credentialLocation(credentialFolder(home), mode, host(mode).keys);
  expect(await place("auto")).toMatchObject({ store: "keyring", problem: null });
  expect(await place("file")).toMatchObject({ store: "file", problem: null });
  expect(await place("ephemeral")).toMatchObject({ store: "memory", problem: null });
  expect(keyring.items.size).toBe(0);
  keyring.refuse("AccessDenied");
  expect(await place("auto")).toMatchObject({
    store: "file",
    words: expect.stringContaining("AccessDenied"),
  });
  expect(await place("keyring")).toMatchObject({ store: "keyring", problem: "AccessDenied" });
});
