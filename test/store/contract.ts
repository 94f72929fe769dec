// What every adapter of the store promises, whatever it keeps threads in.
import assert from "node:assert/strict";
import { fold } from "../../packages/host/src/core/fold.ts";
import type { Commit, ThreadRecord } from "../../packages/host/src/core/records.ts";
import type { JournalReader, Placed, ThreadJournal } from "../../packages/host/src/store/journal.ts";
import type { Store } from "../../packages/host/src/store/store.ts";
import { readHead } from "../../packages/host/src/store/thread-head.ts";
import { newThread } from "../support/test-thread.ts";
import { type Hosts, rename, renameNow, seqs, start, started, type Thread } from "./hosts.ts";
import { INDEX_CONTRACT } from "./index-contract.ts";

async function mine(host: Store, id: string): Promise<ThreadJournal> {
  const taken = await host.journal.open(id);
  assert.equal(taken?.kind, "mine");
  assert(taken?.kind === "mine");
  return taken.journal;
}

async function read<T>(host: Store, id: string, work: (reader: JournalReader) => Promise<T>): Promise<T> {
  const reader = await host.journal.read(id);
  assert(reader !== undefined, `no thread ${id}`);
  try {
    return await work(reader);
  } finally {
    await reader.close();
  }
}

/** Promises by name; each is run on hosts of its own. */
export const CONTRACT: Readonly<Record<string, (hosts: Hosts) => Promise<void>>> = {
  ...INDEX_CONTRACT,

  "gives back what was appended, in both directions": async (hosts) => {
    const host = await hosts.start();
    const { id, journal } = await started(hosts, host, "one", "two", "three");
    assert.deepEqual(await seqs(journal.forwards()), [1, 2, 3, 4]);
    assert.deepEqual(await seqs(journal.backwards()), [4, 3, 2, 1]);
    await journal.close();
    assert.deepEqual(await read(host, id, (reader) => seqs(reader.forwards())), [1, 2, 3, 4]);
    const head = await read(host, id, readHead);
    assert.deepEqual([head?.seq, head?.state.name], [4, "three"]);
  },

  "reads from a commit on, with the hint that it gave out, another one or none": async (hosts) => {
    const host = await hosts.start();
    const { journal } = await started(hosts, host, "one", "two", "three", "four");
    const all: Placed[] = [];
    for await (const placed of journal.forwards()) all.push(placed);
    for (const { commit, start, end } of all) {
      const { seq } = commit;
      const after = [1, 2, 3, 4, 5].filter((one) => one >= seq);
      const before = [5, 4, 3, 2, 1].filter((one) => one <= seq);
      // A page cursor has a hint as text, and may come from another store.
      for (const hint of [start, end]) assert.match(String(hint), /^[0-9A-Z]{1,40}$/);
      for (const hint of [start, end, String(start), String(end), undefined, 0, 7, 1e9, "", "0", "9Z"]) {
        assert.deepEqual(await seqs(journal.forwards({ seq, hint })), after);
        assert.deepEqual(await seqs(journal.backwards({ seq, hint })), before);
      }
      // What ends one commit begins the next.
      assert.deepEqual(await seqs(journal.forwards({ seq: seq + 1, hint: end })), after.slice(1));
    }
    assert.deepEqual(await seqs(journal.forwards({ seq: 9 })), []);
    assert.deepEqual(await seqs(journal.backwards({ seq: 0 })), []);
  },

  "finds the commits that name a text": async (hosts) => {
    const host = await hosts.start();
    const { journal } = await started(hosts, host, "a needle", "hay", "the needle again");
    assert.deepEqual(await seqs(journal.naming("needle")), [2, 4]);
    assert.deepEqual(await seqs(journal.naming("needle", { seq: 3 })), [4]);
    assert.deepEqual(await seqs(journal.naming("nothing")), []);
  },

  "refuses a commit that does not follow the last one, and writes nothing of it": async (hosts) => {
    const host = await hosts.start();
    const thread = await started(hosts, host, "one");
    const [two, three] = [rename(thread, "two"), rename(thread, "three")];
    assert.equal((await thread.journal.append(three)).kind, "conflict");
    assert.equal((await thread.journal.append(two)).kind, "committed");
    assert.equal((await thread.journal.append(two)).kind, "conflict");
    assert.equal((await thread.journal.append(three)).kind, "committed");
    assert.deepEqual(await seqs(thread.journal.forwards()), [1, 2, 3, 4]);
    // Also where it was written before, whether or not it was read since.
    const four = rename(thread, "four");
    for (const isRead of [true, false]) {
      await thread.journal.close();
      const again = await mine(host, thread.id);
      if (isRead) assert.equal((await readHead(again))?.seq, 4);
      assert.equal((await again.append(three)).kind, "conflict");
      assert.equal((await again.append(rename({ ...thread, seq: 8 }, "later"))).kind, "conflict");
      if (!isRead) assert.equal((await again.append(four)).kind, "committed");
      await again.close();
    }
    assert.deepEqual(await read(host, thread.id, (reader) => seqs(reader.forwards())), [1, 2, 3, 4, 5]);
  },

  "takes several commits in one append, also a thread's first": async (hosts) => {
    const host = await hosts.start();
    const id = hosts.newId();
    const { facts, settings, load, docs } = newThread();
    const created: ThreadRecord = { type: "created", at: 1, facts: { ...facts, id }, settings, load, docs };
    const journal = await host.journal.create(id);
    const thread: Thread = { id, journal, state: fold(undefined, created), seq: 1 };
    const first: Commit = { seq: 1, epoch: 1, prev: 0, records: [created] };
    const commits = [first, rename(thread, "a"), rename(thread, "b")];
    assert.equal((await journal.append(commits, "synced", thread.state)).kind, "committed");
    await journal.append([rename(thread, "c"), rename(thread, "d")], "written", thread.state);
    assert.deepEqual(await seqs(journal.forwards()), [1, 2, 3, 4, 5]);
  },

  "says which commits of an append are there": async (hosts) => {
    const host = await hosts.start();
    const thread = await started(hosts, host, "one");
    const [two, three] = [rename(thread, "two"), rename(thread, "three")];
    assert.equal(await thread.journal.settle([two, three]), 0);
    await thread.journal.append(two);
    assert.equal((await thread.journal.append([], "synced")).kind, "committed");
    assert.equal(await thread.journal.settle([three]), 0);
    await thread.journal.append(three);
    assert.deepEqual(await seqs(thread.journal.forwards()), [1, 2, 3, 4]);
  },

  "makes what was appended durable on demand, also for another host": async (hosts) => {
    // A power cut may spare data that was not flushed, so there are several.
    const rounds = hosts.powerCut === undefined ? 1 : 5;
    for (const isOwn of Array.from({ length: rounds }, () => [true, false]).flat()) {
      const [one, other] = [await hosts.start(), await hosts.start()];
      const thread = await started(hosts, one, "one");
      await thread.journal.append(rename(thread, "two"), "written", thread.state);
      await (isOwn ? thread.journal.flush() : other.journal.flush(thread.id));
      if (hosts.powerCut !== undefined) hosts.powerCut(one, other);
      else await hosts.kill(one);
      const next = await hosts.start();
      assert.deepEqual(await read(next, thread.id, (reader) => seqs(reader.forwards())), [1, 2, 3]);
      await next.journal.flush(hosts.newId());
    }
  },

  "says that a thread has commits": async (hosts) => {
    const [one, other] = [await hosts.start(), await hosts.start()];
    const { id, journal } = await started(hosts, one, "used");
    assert.equal(await journal.isEmpty(), false);
    assert.equal(await read(other, id, (reader) => reader.isEmpty()), false);
  },

  "lists a thread as its last append says": async (hosts) => {
    const host = await hosts.start();
    const thread = await started(hosts, host, "first name", "second name");
    const row = await host.index.get(thread.id);
    assert.deepEqual([row?.seq, row?.thread.name, row?.archived], [3, "second name", false]);
  },

  "lets one host at a time write a thread, and says which": async (hosts) => {
    const [one, other] = [await hosts.start(), await hosts.start()];
    const { id, journal } = await started(hosts, one, "used");
    assert.deepEqual(await other.journal.open(id), { kind: "held", by: one.claims.hostId });
    assert.equal(await other.claims.holder(id), one.claims.hostId);
    assert.equal(await one.claims.holder(id), undefined);
    assert.deepEqual([...(await other.claims.holders([id, hosts.newId()]))], [[id, one.claims.hostId]]);
    await journal.close();
    await one.close();
    const taken = await mine(other, id);
    assert.equal(taken.needsRecovery, false);
    await taken.close();
  },

  "names the claims of all hosts, and removes one of a host that died": async (hosts) => {
    const [one, other] = [await hosts.start(), await hosts.start()];
    const [mortal, living] = [await started(hosts, one, "used"), await started(hosts, other, "used")];
    assert.deepEqual([...(await other.claims.held())].sort(), [mortal.id, living.id].sort());
    await assert.rejects(other.claims.disown(mortal.id), { code: "heldElsewhere" });
    await hosts.kill(one);
    assert.deepEqual([...(await other.claims.held())].sort(), [mortal.id, living.id].sort());
    await other.claims.disown(mortal.id);
    assert.deepEqual(await other.claims.abandoned(), []);
    await living.journal.close();
    await other.close();
    assert.deepEqual(await (await hosts.start()).claims.held(), []);
  },

  "lets others wait for a thread of a host that ends": async (hosts) => {
    const [one, other] = [await hosts.start(), await hosts.start()];
    const { id, journal } = await started(hosts, one, "used");
    await one.claims.leave();
    const opening = other.journal.open(id);
    // Longer than others wait for a host that has not announced its end.
    await hosts.pause?.(5000);
    await journal.close();
    await one.close();
    const taken = await opening;
    assert(taken?.kind === "mine");
    assert.equal(taken.journal.needsRecovery, false);
    await taken.journal.close();
  },

  "lets every host read a thread that another one writes": async (hosts) => {
    const [one, other] = [await hosts.start(), await hosts.start()];
    const thread = await started(hosts, one, "before");
    assert.deepEqual(await read(other, thread.id, (reader) => seqs(reader.backwards())), [2, 1]);
    await renameNow(thread, "after");
    assert.deepEqual(await read(other, thread.id, (reader) => seqs(reader.backwards())), [3, 2, 1]);
  },

  "shows other hosts a new thread when it is used, at the latest": async (hosts) => {
    const [one, other] = [await hosts.start(), await hosts.start()];
    const unused = await start(hosts, one);
    assert.equal(await other.journal.has(unused.id), hosts.seesUnused);
    await renameNow(unused, "used");
    assert.equal(await other.journal.has(unused.id), true);
  },

  "hands the threads of a host that died to the next one, which has to recover them": async (hosts) => {
    const [one, other] = [await hosts.start(), await hosts.start()];
    const used = await started(hosts, one, "used");
    const unused = await start(hosts, one);
    await hosts.kill(one);
    assert.deepEqual([...(await other.claims.abandoned())].sort(), [used.id, unused.id].sort());
    for (const [{ id }, expected] of [
      [used, [1, 2]],
      [unused, [1]],
    ] as const) {
      const taken = await mine(other, id);
      assert.equal(taken.needsRecovery, true);
      assert.deepEqual(await seqs(taken.forwards()), expected);
      taken.markRecovered();
      await taken.close();
    }
    await other.close();
    assert.deepEqual(await (await hosts.start()).claims.abandoned(), []);
  },

  "keeps the claim on a thread that has to be recovered": async (hosts) => {
    const one = await hosts.start();
    const { id, journal } = await started(hosts, one, "used");
    journal.markNeedsRecovery();
    await journal.close();
    await one.close();
    const next = await hosts.start();
    assert.deepEqual(await next.claims.abandoned(), [id]);
    assert.equal((await mine(next, id)).needsRecovery, true);
  },

  "says whether a host still has a thread, and signals that it has not": async (hosts) => {
    const one = await hosts.start();
    const [thread, unused] = [await started(hosts, one, "mine"), await started(hosts, one)];
    const lost: string[] = [];
    one.claims.onLost((id) => lost.push(id));
    assert.deepEqual([await thread.journal.isHeld(), await unused.journal.isHeld()], [true, true]);
    await hosts.takeOver(thread.id, one);
    assert.deepEqual([await thread.journal.isHeld(), await thread.journal.isHeld()], [false, false]);
    assert.deepEqual(lost, [thread.id]);
    assert.equal(await unused.journal.isHeld(), true);
    await assert.rejects(thread.journal.destroy(), { code: "storageFailed" });
  },

  "signals a claim that was lost while the outcome of an append was unknown": async (hosts) => {
    const one = await hosts.start();
    const thread = await started(hosts, one, "mine");
    const lost: string[] = [];
    one.claims.onLost((id) => lost.push(id));
    const commit = rename(thread, "unknown");
    await hosts.takeOver(thread.id, one);
    await assert.rejects(thread.journal.settle([commit], thread.state), { code: "storageFailed" });
    assert.deepEqual(lost, [thread.id]);
    assert.equal((await thread.journal.append(commit, "written", thread.state)).kind, "conflict");
  },

  "signals a claim that was lost, and takes nothing more": async (hosts) => {
    const one = await hosts.start();
    const thread = await started(hosts, one, "mine");
    const lost: string[] = [];
    one.claims.onLost((id) => lost.push(id));
    await hosts.takeOver(thread.id, one);
    const outcome = await thread.journal.append(rename(thread, "too late"), "written", thread.state);
    assert.equal(outcome.kind, "conflict");
    assert.deepEqual(lost, [thread.id]);
    // What is not this host's any more is not moved, removed or given back by it, either.
    await assert.rejects(thread.journal.archive(true, thread), { code: "storageFailed" });
    await assert.rejects(thread.journal.destroy(), { code: "storageFailed" });
    await thread.journal.rest();
    await thread.journal.close();
    await one.close();
    const next = await hosts.start();
    const holder = await next.claims.holder(thread.id);
    const abandoned = await next.claims.abandoned();
    assert(holder !== undefined || abandoned.includes(thread.id), "the claim of the other host is gone");
    const names = await read(next, thread.id, async (reader) => (await readHead(reader))?.state.name);
    assert.notEqual(names, "too late");
  },

  "leaves a thread to the host that took it over, also before it has noticed the loss": async (hosts) => {
    const one = await hosts.start();
    const [moved, deleted, closed] = [
      await started(hosts, one, "mine"),
      await started(hosts, one, "mine"),
      await started(hosts, one, "mine"),
    ];
    const all = [moved.id, deleted.id, closed.id];
    const lost: string[] = [];
    one.claims.onLost((id) => lost.push(id));
    for (const id of all) await hosts.takeOver(id, one);
    await assert.rejects(moved.journal.archive(true, moved), { code: "storageFailed" });
    await assert.rejects(deleted.journal.destroy(), { code: "storageFailed" });
    assert.deepEqual(lost, [moved.id, deleted.id]);
    for (const { journal } of [moved, deleted, closed]) await journal.close();
    await one.close();
    const next = await hosts.start();
    for (const id of all) {
      const isClaimed = (await next.claims.held()).includes(id);
      assert(isClaimed, `the claim of the other host on ${all.indexOf(id)} is gone`);
      assert.equal(await read(next, id, async ({ place }) => place.archived), false);
    }
  },

  "gives a thread that was deleted to nobody": async (hosts) => {
    const [one, other] = [await hosts.start(), await hosts.start()];
    for (const thread of [await start(hosts, one), await started(hosts, one, "used")]) {
      await thread.journal.destroy();
      assert.equal(await other.journal.has(thread.id), false);
      assert.equal(await other.journal.open(thread.id), undefined);
      assert.equal(await one.journal.read(thread.id), undefined);
      assert.equal(await one.index.get(thread.id), undefined);
    }
    await one.close();
    assert.deepEqual(await other.claims.abandoned(), []);
  },

  "moves a thread to the archive and back, with all that belongs to it": async (hosts) => {
    const host = await hosts.start();
    const thread = await started(hosts, host, "used");
    const { id, journal } = thread;
    await journal.keep("picture", Buffer.from("bytes"));
    await journal.archive(true, thread);
    assert.equal(journal.place.archived, true);
    assert.equal((await host.index.get(id))?.archived, true);
    await journal.close();
    const all: { id: string; archived: boolean }[] = [];
    for await (const one of host.journal.threads()) all.push({ ...one });
    assert.deepEqual(all, [{ id, archived: true }]);
    const again = await mine(host, id);
    assert.equal(Buffer.from((await again.blob("picture"))!).toString(), "bytes");
    await again.archive(false, thread);
    assert.equal(again.place.archived, false);
    assert.equal((await host.index.get(id))?.archived, false);
    assert.equal(await again.blob("missing"), undefined);
    assert.deepEqual(await seqs(again.forwards()), [1, 2]);
    await again.close();
  },

  "lists the blobs of a thread, and removes one": async (hosts) => {
    const host = await hosts.start();
    const { journal } = await started(hosts, host, "used");
    assert.deepEqual(await journal.blobs(""), []);
    await journal.removeBlob("before-1");
    await journal.keep("before-1", Buffer.from("one"));
    await journal.keep("before-2", Buffer.from("three"));
    await journal.keep("picture", Buffer.from("bytes"));
    const found = [...(await journal.blobs("before-"))].sort((a, b) => (a.name < b.name ? -1 : 1));
    assert.deepEqual(found, [
      { name: "before-1", bytes: 3 },
      { name: "before-2", bytes: 5 },
    ]);
    await journal.removeBlob("before-1");
    assert.equal(await journal.blob("before-1"), undefined);
    assert.deepEqual(await journal.blobs("before-"), [{ name: "before-2", bytes: 5 }]);
  },

  "puts long outputs into files of the machine, or says that it has none": async (hosts) => {
    const host = await hosts.start();
    const { id, journal } = await started(hosts, host, "used");
    const folder = host.outputs.folder(id);
    const output = await host.outputs.create(id, "call.txt");
    assert.deepEqual(
      [folder !== null, output !== undefined, journal.folder !== null],
      [hosts.hasPaths, hosts.hasPaths, hosts.hasPaths],
    );
    if (folder === null || output === undefined) return;
    assert(output.path.startsWith(folder));
    await output.append(Buffer.from("long "));
    await output.append(Buffer.from("output"));
    await output.close();
    assert.equal(await hosts.readFile!(output.path), "long output");
    // It goes with the thread.
    await journal.destroy();
    assert.equal(await hosts.readFile!(output.path), undefined);
  },

  "resolves the paths that it gives out": async (hosts) => {
    const host = await hosts.start();
    const { id, journal } = await started(hosts, host, "used");
    const { path } = journal.place;
    assert.equal(path !== null, hosts.hasPaths);
    if (path !== null) assert.deepEqual(host.journal.resolvePath(path), { path, threadId: id });
    assert.equal(host.journal.resolvePath("no thread").threadId, undefined);
  },

  "stores a whole thread in one step, or nothing of it": async (hosts) => {
    const host = await hosts.start();
    const thread = await started(hosts, host, "one");
    const commits: Commit[] = [];
    for await (const { commit } of thread.journal.forwards()) commits.push(commit);
    const said: ThreadRecord = {
      type: "itemCompleted",
      at: 3,
      turnId: "turn",
      item: {
        type: "agentMessage",
        id: "item",
        text: "a needle",
        phase: null,
        memoryCitation: null,
        delivery: null,
        questions: null,
      },
    };
    commits.push({ seq: 3, epoch: 1, prev: 2, records: [said] });
    const bring = async (id: string, isWanted: boolean) => {
      const { facts } = thread.state;
      const all = async function* () {
        yield* commits;
      };
      const state = isWanted ? { ...thread.state, facts: { ...facts, id } } : undefined;
      return host.journal.bring(id, all(), { archived: true, state: () => state });
    };
    const [wanted, unwanted] = [hosts.newId(), hosts.newId()];
    assert.equal((await bring(wanted, true))?.archived, true);
    assert.equal(await bring(unwanted, false), undefined);
    assert.equal(await bring(wanted, true), undefined);
    assert.deepEqual([await host.journal.has(wanted), await host.journal.has(unwanted)], [true, false]);
    // It is listed and found, and what was not wanted is not.
    const { seq, archived } = (await host.index.get(wanted))!;
    assert.deepEqual([seq, archived], [3, true]);
    const found = await host.index.occurrences({
      threadId: wanted,
      searchTerm: "needle",
      from: { place: 0, nth: 0 },
      limit: 5,
      runningTurn: null,
    });
    assert.deepEqual(
      found.occurrences.map(({ itemId }) => itemId),
      ["item"],
    );
    assert.equal(await host.index.get(unwanted), undefined);
  },

  "gives one thread to all who come with the same key": async (hosts) => {
    const [one, other] = [await hosts.start(), await hosts.start()];
    const thread = await started(hosts, one, "used");
    const key = "a".repeat(64);
    assert.equal(await one.startKeys.reserve(key, thread.id), thread.id);
    assert.equal(await one.startKeys.reserve(key, hosts.newId()), thread.id);
    assert.equal(await other.startKeys.reserve(key, hosts.newId()), thread.id);
    await other.startKeys.release(key);
    const next = hosts.newId();
    assert.equal(await other.startKeys.reserve(key, next), next);
  },

  "gives a key of a host that died to the next one": async (hosts) => {
    const [one, other] = [await hosts.start(), await hosts.start()];
    const key = "b".repeat(64);
    await one.startKeys.reserve(key, hosts.newId());
    await hosts.kill(one);
    const next = hosts.newId();
    assert.equal(await other.startKeys.reserve(key, next), next);
  },

  "replaces a document that is as it was read, and no other": async (hosts) => {
    const [one, other] = [await hosts.start(), await hosts.start()];
    assert.equal(await one.documents.read("thread_sections"), undefined);
    assert.equal(await one.documents.replace("thread_sections", "1", undefined), true);
    assert.equal(await other.documents.replace("thread_sections", "2", undefined), false);
    const { version } = (await other.documents.read("thread_sections"))!;
    assert.equal(await other.documents.replace("thread_sections", "2", version), true);
    assert.equal(await one.documents.replace("thread_sections", "3", version), false);
    assert.equal((await one.documents.read("thread_sections"))?.text, "2");
    await one.documents.setAside("thread_sections");
    assert.equal(await other.documents.read("thread_sections"), undefined);
  },

  "loses no change that several hosts make to a document at once": async (hosts) => {
    const all = [await hosts.start(), await hosts.start(), await hosts.start()];
    const name = "rules/default";
    const add = async ({ documents }: Store, line: string): Promise<void> => {
      for (;;) {
        const known = await documents.read(name);
        if (await documents.replace(name, `${known?.text ?? ""}${line}\n`, known?.version)) return;
      }
    };
    const lines = Array.from({ length: 9 }, (_, nth) => `line ${nth}`);
    await Promise.all(lines.map((line, nth) => add(all[nth % all.length]!, line)));
    const { text } = (await all[0]!.documents.read(name))!;
    assert.deepEqual(text.trimEnd().split("\n").sort(), lines);
  },

  "lists the documents of a folder": async (hosts) => {
    const [one, other] = [await hosts.start(), await hosts.start()];
    for (const folder of ["rules", "rap_toolsets"]) {
      assert.deepEqual(await one.documents.list(folder), []);
      const names = [`${folder}/default`, `${folder}/a%2Fb.c`];
      for (const name of names) assert.equal(await one.documents.replace(name, name, undefined), true);
      assert.deepEqual([...(await other.documents.list(folder))].sort(), [...names].sort());
      for (const name of names) {
        assert.equal((await other.documents.read(name))?.text, name);
        assert.equal(other.documents.path(name) !== null, hosts.hasPaths);
      }
      assert.equal(await one.documents.read(`${folder}/other`), undefined);
    }
    assert.equal(await one.documents.replace("thread_sections", "no folder", undefined), true);
    assert.equal((await one.documents.list("rules")).length, 2);
  },

  "keeps a credential until it is deleted": async (hosts) => {
    const [one, other] = [await hosts.start(), await hosts.start()];
    const key = JSON.stringify(["mcp", "a/b\n"]);
    assert.equal(await one.credentials.read(key), undefined);
    await one.credentials.write(key, "one");
    await other.credentials.write(key, "two");
    await one.credentials.write("other", "three");
    assert.equal(await one.credentials.read(key), "two");
    assert.equal(one.credentials.path(key) !== null, hosts.hasPaths);
    await one.credentials.delete(key);
    await other.credentials.delete(key);
    assert.equal(await other.credentials.read(key), undefined);
    assert.equal(await other.credentials.read("other"), "three");
  },

  "lets one host at a time work under a credential's key, and others under theirs": async (hosts) => {
    const [one, other] = [await hosts.start(), await hosts.start()];
    const done: string[] = [];
    let finish!: () => void;
    let first!: Promise<void>;
    await new Promise<void>((begun) => {
      first = one.credentials.exclusively("key", async () => {
        begun();
        await new Promise<void>((resolve) => (finish = resolve));
        done.push("first");
      });
    });
    const second = other.credentials.exclusively("key", async () => void done.push("second"));
    await one.credentials.exclusively("other", async () => void done.push("other"));
    assert.deepEqual(done, ["other"]);
    finish();
    await Promise.all([first, second]);
    assert.deepEqual(done, ["other", "first", "second"]);
    await assert.rejects(one.credentials.exclusively("key", () => Promise.reject(new Error("refused"))));
    assert.equal(await other.credentials.exclusively("key", async () => "free"), "free");
  },

  "keeps a secret until it is removed": async (hosts) => {
    const [one, other] = [await hosts.start(), await hosts.start()];
    const threadId = hosts.newId();
    await one.secrets.save(threadId, 7, "https://example.org/secret");
    assert.equal(await other.secrets.read(threadId, 7), "https://example.org/secret");
    assert.deepEqual(await other.secrets.list(), [{ threadId, requestId: 7 }]);
    await other.secrets.remove(threadId, 7);
    assert.equal(await one.secrets.read(threadId, 7), undefined);
    assert.deepEqual(await one.secrets.list(), []);
  },
};

/** A lock that a host held when it died is free. On a real disk only the end of the process does that. */
export async function freesLocksOfTheDead(hosts: Hosts): Promise<void> {
  const [one, other] = [await hosts.start(), await hosts.start()];
  await new Promise<void>((begun) => {
    void one.credentials.exclusively("key", () => {
      begun();
      return new Promise(() => {});
    });
  });
  const next = other.credentials.exclusively("key", async () => "free");
  await hosts.kill(one);
  assert.equal(await next, "free");
}
