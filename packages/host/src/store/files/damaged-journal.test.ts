import { execFileSync } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import { dirname } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  goldenLines,
  GOLDEN_ID as ID,
  type TestHome,
  testHome,
} from "../../../../../test/support/journal-home.ts";
import type { Log } from "../../observe/log.ts";
import { rebuildRows } from "../index-rebuild.ts";
import { readHead } from "../thread-head.ts";
import { sessionPath } from "./journal-paths.ts";

const OTHER = "01a1e11e-8538-703d-834a-e6eb57dc6a9b";
/** What was added to it later is left out: the tests name its last commits by their numbers. */
const LINES = (await goldenLines()).slice(0, 63);
/** The commits with checkpoints. */
const [MIDDLE, CLOSED] = [40, 59];

const homes: TestHome[] = [];
async function home(): Promise<TestHome> {
  const made = await testHome();
  homes.push(made);
  return made;
}
afterEach(async () => {
  for (const one of homes.splice(0)) await one.remove();
});

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

const text = (lines: readonly string[]): string => `${lines.join("\n")}\n`;

/** The journal with one of its lines changed. */
function withLine(seq: number, change: (line: string) => string): string[] {
  return LINES.with(seq - 1, change(LINES[seq - 1]!));
}

async function stateOf(journal: string) {
  const { put, read, warnings } = await home();
  await put(ID, journal);
  return { head: await read(ID, readHead), warnings };
}

const whole = (await stateOf(text(LINES))).head!;

describe("a damaged checkpoint", () => {
  it.each([
    ["createdAt", '"createdAt":1794778237000', '"createdAt":"1794778237000"'],
    ["facts", '"facts":{', '"facts":7,"other":{'],
    ["settings", '"settings":{', '"settings":null,"other":{'],
    ["preview", '"preview":"Roll the dice"', '"preview":["Roll the dice"]'],
    ["name", '"name":"Golden"', '"name":{}'],
    ["requests", '"requests":[]', '"requests":null'],
    ["queue", '"queue":{"items":', '"queue":{"item":'],
    ["rap", '"rap":{', '"rap":[],"other":{'],
  ])("[DAMAGE-1] (%s) is passed over for the one before it, with nothing lost", async (what, from, to) => {
    const lines = withLine(CLOSED, (line) => {
      const damaged = line.replace(from, to);
      expect(damaged, what).not.toBe(line);
      return damaged;
    });
    const { head, warnings } = await stateOf(text(lines));
    expect(head).toEqual(whole);
    expect(warnings).toMatchObject([{ count: 1, why: expect.stringContaining("checkpoint: ") }]);
  });

  it("[DAMAGE-1] is passed over for the very beginning, if there is no other", async () => {
    let lines = withLine(CLOSED, (line) => line.replace('"requests":[]', '"requests":null'));
    lines = lines.with(MIDDLE - 1, lines[MIDDLE - 1]!.replace('"requests":[]', '"requests":7'));
    expect((await stateOf(text(lines))).head).toEqual(whole);
  });

  it("[DAMAGE-1] leaves a journal that cannot be read if the beginning is damaged, too", async () => {
    let lines = withLine(CLOSED, (line) => line.replace('"requests":[]', '"requests":null'));
    lines = lines.with(MIDDLE - 1, lines[MIDDLE - 1]!.replace('"requests":[]', '"requests":7'));
    lines = lines.with(0, lines[0]!.replace('"cwd"', '"cwx"'));
    const { put, read, journal, warnings } = await home();
    await put(ID, text(lines));
    await expect(read(ID, readHead)).rejects.toMatchObject({ code: "journalDamaged" });
    await put(OTHER, text(LINES).replaceAll(ID, OTHER));
    const listed: string[] = [];
    for await (const { row } of rebuildRows(journal, {
      ...SILENT,
      warn: (message) => listed.push(message),
    })) {
      listed.push(row.id);
    }
    expect(listed).toEqual(["a thread cannot be read and is not listed", OTHER]);
    expect(warnings).toHaveLength(1);
  });

  it("of another thread is not taken for this one's", async () => {
    const lines = withLine(CLOSED, (line) => line.replaceAll(ID, OTHER));
    expect((await stateOf(text(lines))).head).toEqual(whole);
    const { put, read } = await home();
    await put(ID, text(LINES).replaceAll(ID, OTHER));
    await expect(read(ID, readHead)).rejects.toMatchObject({ code: "journalDamaged" });
  });

  it("of another load is not taken for this one's", async () => {
    const lines = withLine(CLOSED, (line) => {
      const at = line.indexOf('"checkpoint"');
      return line.slice(0, at) + line.slice(at).replace('"epoch":2', '"epoch":1');
    });
    const { head, warnings } = await stateOf(text(lines));
    expect(head).toEqual(whole);
    expect(warnings).toMatchObject([{ count: 1, why: "checkpoint: it is of another load" }]);
  });
});

describe("a damaged line", () => {
  it("is left out, and the next commit does not follow from its numbers", async () => {
    for (const damage of [
      (line: string) => line.replace('"seq":63', '"seq":9007199254740991'),
      (line: string) => line.replace('"seq":63', '"seq":62'),
      (line: string) =>
        line.replace(
          '"seq":63,"epoch":3,"prev":62',
          '"seq":9007199254740991,"epoch":3,"prev":9007199254740990',
        ),
      (line: string) => line.replace('"epoch":3', '"epoch":4294967295'),
      (line: string) => line.slice(0, -2),
      (line: string) => line.replace(/"records":.*/, '"records":{}}'),
      (line: string) => line.replace(/"records":.*/, '"records":null}'),
      () => "{",
      () => "[]",
      () => "\0\0\0\0",
    ]) {
      const { head, warnings } = await stateOf(text(withLine(63, damage)));
      expect(head).toMatchObject({ seq: 62, state: { epoch: 3, turn: { open: [] } } });
      expect(warnings).toMatchObject([{ count: 1, why: "the line is not a commit" }]);
    }
  });

  it("loses the damaged record of a commit alone", async () => {
    const lines = withLine(63, (line) => line.replace('"text":"1. Ship"', '"text":1'));
    const { head } = await stateOf(text(lines));
    expect(head).toMatchObject({ seq: 63, state: { turn: { open: [{ id: "p1" }], saved: {} } } });
  });

  it("that says that another load began is left out", async () => {
    const lines = withLine(61, (line) =>
      line
        .replace('"type":"opened","at":', '"type":"opened","epoch":4294967295,"at":')
        .replace(',"epoch":3,"load"', ',"load"'),
    );
    expect(lines).not.toEqual(LINES);
    expect((await stateOf(text(lines))).head?.state.epoch).toBeLessThan(4);
  });

  it("that comes twice, or comes again later, counts once", async () => {
    expect((await stateOf(text(LINES.flatMap((line) => [line, line])))).head).toEqual(whole);
    expect((await stateOf(text([...LINES, ...LINES.slice(60)]))).head).toEqual(whole);
    expect((await stateOf(text([...LINES, LINES[61]!]))).head).toEqual(whole);
  });

  it("that comes twice, or comes again later, is indexed once", async () => {
    const { put, journal } = await home();
    const rows = async (lines: readonly string[]) => {
      await put(ID, text(lines));
      const found = [];
      for await (const { row, texts } of rebuildRows(journal, SILENT)) found.push(row, ...texts);
      return found;
    };
    const once = await rows(LINES);
    expect(once.length).toBeGreaterThan(2);
    expect(await rows(LINES.flatMap((line) => [line, line]))).toEqual(once);
    expect(await rows([...LINES, ...LINES.slice(2, 30)])).toEqual(once);
  });

  it("is none with a BOM in front of it or CRLF behind it", async () => {
    const { head, warnings } = await stateOf(text(LINES.map((line) => `\ufeff${line}\r`)));
    expect({ head, warnings }).toEqual({ head: whole, warnings: [] });
  });

  it("is found behind a cursor only if it is a commit", async () => {
    const { put, read } = await home();
    await put(ID, text(withLine(50, (line) => line.replace('"seq":50', '"seq":10'))));
    const seqs = await read(ID, async (reader) => {
      const found: number[] = [];
      for await (const { commit } of reader.forwards({ seq: 48 })) found.push(commit.seq);
      return found;
    });
    expect(seqs).toEqual([48, 49, ...Array.from({ length: 13 }, (_, nth) => 51 + nth)]);
  });
});

describe("lines of nothing", () => {
  const many = 20_000;

  it.each([
    ["empty", ""],
    ["blank", " "],
    ["CRLF", "\r"],
    ["junk", "x"],
    ["half of an object", "{"],
    ["almost a commit", '{"seq":1,}'],
    ["the beginning of a commit", '{"seq":1,"epoch":1,"prev":0,"records":['],
  ])("[DAMAGE-4] (%s) do not keep others from their turn, and are logged once", async (what, junk) => {
    const { put, read, warnings, pauses } = await home();
    await put(ID, `${text(LINES.slice(0, 62))}${`${junk}\n`.repeat(many)}${LINES[62]}\n`);
    expect(await read(ID, readHead)).toEqual(whole);
    // At a thousand lines at once; empty ones are not even looked at.
    if (what === "empty") expect(pauses()).toBe(0);
    else expect(pauses()).toBeGreaterThanOrEqual(many / 1000 - 1);
    const isDamage = !["empty", "blank", "CRLF"].includes(what);
    expect(warnings).toHaveLength(isDamage ? 1 : 0);
    if (isDamage) expect(warnings[0]).toMatchObject({ count: many, bytes: many * (junk.length + 1) });
    // Another pass finds nothing new to say.
    await read(ID, readHead);
    expect(warnings).toHaveLength(isDamage ? 1 : 0);
  });

  it.each([
    ["in the middle", 31],
    ["at the end", 63],
  ])("[DAMAGE-4] are read three times at most, 5 MB of empty ones %s", async (_where, before) => {
    const empty = 5_000_000;
    const { put, read, journal, warnings, pauses, calls } = await home();
    const journalText = text(LINES.slice(0, before)) + "\n".repeat(empty) + text(LINES.slice(before)).trim();
    await put(ID, `${journalText}\n`);
    /** Runs it, and checks that it reads the file three times at most, in large parts. */
    const cheaply = async (work: () => Promise<void>): Promise<void> => {
      calls.reset();
      await work();
      expect(calls.bytesRead).toBeLessThan(3 * journalText.length);
      expect(calls.of("read")).toBeLessThan(100);
    };
    await cheaply(async () => expect(await read(ID, readHead)).toEqual(whole));
    await cheaply(async () => {
      const listed = [];
      for await (const { row } of rebuildRows(journal, SILENT)) listed.push(row.id);
      expect(listed).toEqual([ID]);
    });
    for (const seq of [2, 32, 63]) {
      await cheaply(async () => {
        const seqs = await read(ID, async (reader) => {
          const found: number[] = [];
          for await (const { commit } of reader.forwards({ seq })) found.push(commit.seq);
          return found;
        });
        expect(seqs).toEqual(LINES.map((_line, nth) => nth + 1).filter((one) => one >= seq));
      });
    }
    expect([pauses(), warnings]).toEqual([0, []]);
  });

  it("[DAMAGE-4] leave the way free for what else there is to do", async () => {
    const { put, read } = await home();
    await put(ID, `${LINES[0]}\n${"{\n".repeat(many)}`);
    let turns = 0;
    let over = false;
    const other = (): void => {
      turns++;
      if (!over) setImmediate(other);
    };
    setImmediate(other);
    await read(ID, readHead);
    over = true;
    expect(turns).toBeGreaterThanOrEqual(many / 1000);
  });
});

describe("what is no file in a journal's place", () => {
  const put = {
    pipe: (path: string) => void execFileSync("mkfifo", [path]),
    folder: (path: string) => mkdir(path),
    "link to a pipe": async (path: string) => {
      execFileSync("mkfifo", [`${path}.pipe`]);
      await symlink(`${path}.pipe`, path);
    },
    "link to a device that never ends": (path: string) => symlink("/dev/zero", path),
    "link to a device that is always empty": (path: string) => symlink("/dev/null", path),
    "link to a device that is always full": (path: string) => symlink("/dev/full", path),
  };

  it.each(Object.entries(put))("[DAMAGE-5] (a %s) is refused at once", async (_, make) => {
    const { path: folder, journal } = await home();
    const path = sessionPath(folder, ID);
    await mkdir(dirname(path), { recursive: true });
    await make(path);
    await expect(journal.read(ID)).rejects.toMatchObject({ code: "journalDamaged" });
    await expect(journal.open(ID)).rejects.toMatchObject({ code: "journalDamaged" });
    await journal.close();
  });
});
