import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ErrorCode, Fault } from "../errors.ts";
import type { Log } from "../observe/log.ts";
import { nodeFiles } from "../platform/node-files.ts";
import type { Files } from "../platform/platform.ts";
import { DocumentFiles } from "../store/files/document-files.ts";
import { openSections, PINNED_SECTION, positionBetween, type Sections } from "./thread-sections.ts";

let home: string;
let path: string;
let now: number;
let count: number;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "sections-"));
  path = join(home, "thread_sections.json");
  now = 0;
  count = 0;
});
afterEach(() => rm(home, { recursive: true, force: true }));

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

function open(files: Files = nodeFiles()): Sections {
  const uuid = () => `0190${String(++count).padStart(4, "0")}-0000-7000-8000-000000000000`;
  const clock = { now: () => now, monotonic: () => now };
  const liveness = { exclusively: <T>(_path: string, work: () => Promise<T>) => work() };
  const documents = new DocumentFiles(home, { files, liveness }, (work) => work());
  return openSections({ documents, ids: { uuid, integer: () => 1 }, clock, log: silent });
}

async function refused(promise: Promise<unknown>, code: ErrorCode, words: string): Promise<void> {
  const cause = (await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )) as Fault;
  expect(cause?.code).toBe(code);
  expect(cause?.message).toContain(words);
}

const names = async (sections: Sections, owner?: string) =>
  (await sections.all(owner)).map((section) => section.name);

describe("thread sections", () => {
  it("are the pinned one at first", async () => {
    const sections = open();
    expect(await sections.list(undefined, {})).toEqual({ data: [PINNED_SECTION], nextCursor: null });
    expect(await readdir(home)).toEqual([]);
  });

  it("are made, changed and deleted, and are there after a restart", async () => {
    const sections = open();
    const appearance = { icon: "folder", color: "purple" };
    const { section: work } = await sections.create("local", { name: "  Work  ", appearance });
    expect(work).toEqual({ id: work.id, name: "Work", appearance });
    const { section: own } = await sections.create("local", { name: "Personal" });
    expect(own.appearance).toBeNull();
    const { section: renamed } = await sections.update("local", { sectionId: work.id, name: " Projects " });
    expect(renamed).toEqual({ ...work, name: "Projects" });
    expect(await open().all("local")).toEqual([PINNED_SECTION, renamed, own]);
    const cleared = { sectionId: work.id, name: "Projects", appearance: null };
    expect((await sections.update("local", cleared)).section.appearance).toBeNull();
    expect(await sections.delete("local", { sectionId: work.id })).toEqual({});
    expect(await names(open())).toEqual(["Pinned", "Personal"]);
  });

  it("are listed in pages, also if the last one of a page is deleted in between", async () => {
    const sections = open();
    const made = [];
    for (const name of ["a", "b", "c", "d"]) {
      made.push((await sections.create("local", { name })).section);
    }
    const first = await sections.list(undefined, { limit: 3 });
    expect(first.data.map(({ name }) => name)).toEqual(["Pinned", "a", "b"]);
    await sections.delete(undefined, { sectionId: made[1]!.id });
    const second = await sections.list(undefined, { limit: 3, cursor: first.nextCursor });
    expect(second.data.map(({ name }) => name)).toEqual(["c", "d"]);
    expect(second.nextCursor).toBeNull();
    const one = await sections.list(undefined, { limit: 1 });
    expect((await sections.list(undefined, { limit: 1, cursor: one.nextCursor })).data[0]!.name).toBe("a");
  });

  it("keep the order of changes that nobody waited for, and a list sees them", async () => {
    const sections = open();
    const { section } = await sections.create("local", { name: "Work" });
    const changes = ["one", "two", "three"].map((name) =>
      sections.update("local", { sectionId: section.id, name }),
    );
    expect(await names(sections)).toEqual(["Pinned", "three"]);
    await Promise.all(changes);
  });

  it("belong to who made them", async () => {
    const sections = open();
    const { section } = await sections.create("subject:a", { name: "A's" });
    expect(await names(sections, "subject:b")).toEqual(["Pinned"]);
    expect(await names(sections)).toEqual(["Pinned", "A's"]);
    await refused(sections.delete("subject:b", { sectionId: section.id }), "sectionNotFound", section.id);
    await sections.delete(undefined, { sectionId: section.id });
  });

  it("refuse what makes no sense", async () => {
    const sections = open();
    const pinned = PINNED_SECTION.id;
    await refused(sections.create("local", { name: "  " }), "sectionNameEmpty", "must not be empty");
    await refused(sections.create("local", { name: "x".repeat(257) }), "invalidParams", "256");
    await refused(sections.update("local", { sectionId: " ", name: "x" }), "invalidParams", "sectionId");
    await refused(sections.update("local", { sectionId: pinned, name: "x" }), "sectionBuiltIn", "built in");
    await refused(sections.delete("local", { sectionId: pinned }), "sectionBuiltIn", "built in");
    await refused(sections.update("local", { sectionId: "none", name: "x" }), "sectionNotFound", "none");
    await refused(sections.delete("local", { sectionId: "none" }), "sectionNotFound", "none");
    for (const field of ["icon", "color"]) {
      const long = { name: "x", appearance: { [field]: "é".repeat(33) } };
      await refused(sections.create("local", long), "invalidParams", field);
    }
    expect(await readdir(home)).toEqual([]);
  });

  it("say so when they cannot be saved, and stay as they were", async () => {
    const sections = open();
    await sections.create("local", { name: "Work" });
    const replaceText = () => Promise.reject(new Error("ENOSPC: no space"));
    const full = open({ ...nodeFiles(), replaceText });
    await refused(full.create("local", { name: "More" }), "notSaved", "ENOSPC");
    expect(await names(full)).toEqual(["Pinned", "Work"]);
  });

  it("of another host are seen after a moment, and never overwritten", async () => {
    const [one, two] = [open(), open()];
    expect(await names(two)).toEqual(["Pinned"]);
    await one.create("local", { name: "a" });
    await two.create("local", { name: "b" });
    expect(await names(two)).toEqual(["Pinned", "a", "b"]);
    now += 2000;
    expect(await names(one)).toEqual(["Pinned", "a", "b"]);
  });

  it("that somebody broke by hand are set aside, and all goes on", async () => {
    await writeFile(path, '{"sections": [{"id"');
    const sections = open();
    expect(await names(sections)).toEqual(["Pinned"]);
    await sections.create("local", { name: "a" });
    expect((await readdir(home)).sort()).toEqual(["thread_sections.json", "thread_sections.json.broken"]);
  });
});

describe("a position in a section", () => {
  it("is between its neighbours, or beyond the ends", () => {
    expect(positionBetween(undefined, undefined)).toBe(0);
    expect(positionBetween(4.5, undefined)).toBe(5);
    expect(positionBetween(undefined, 4.5)).toBe(4);
    expect(positionBetween(1, 2)).toBe(1.5);
    expect(positionBetween(1, 1)).toBeUndefined();
    expect(positionBetween(1, 1 + Number.EPSILON)).toBeUndefined();
  });
});
