// Plays a case of test/scenario/recorded/files against a host, and compares every frame. The README there describes the format.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { freshFolder } from "./folder.ts";
import type { Received, WireClient } from "./wire-client.ts";

const FOLDER = join(import.meta.dirname, "../scenario/recorded/files");

/** Plays a case with a client that sends nothing else in the meantime. */
export async function playExactly(name: string, client: WireClient): Promise<void> {
  const work = await freshFolder("work");
  const from = client.frames.length;
  /** Indexes of the frames at which a new step begins. */
  const begun = new Set<number>();
  const came = (): readonly object[] => comparable(client.frames.slice(from), work, begun);
  const expected: object[] = [];
  const seen = (): Promise<void> =>
    client
      .until(() => came().length >= expected.length, `${name}: ${JSON.stringify(expected.at(-1))}`)
      .catch((error) => expect(came(), `${error}`).toEqual(expected));
  for (const line of readFileSync(join(FOLDER, `${name}.txt`), "utf8").split("\n")) {
    const [, sign, text] = /^([$><+-]) (.*)$/.exec(line) ?? [];
    if (sign === "<") expected.push(sorted(JSON.parse(text!)));
    else if (sign === "+") expected.push(sorted(JSON.parse(text!.replace(/ {2}# .+$/, ""))));
    else if (sign === "$" || sign === ">") {
      await seen();
      begun.add(client.frames.length - from);
      if (sign === "$") execFileSync("bash", ["-c", text!], { cwd: work, stdio: "pipe" });
      else call(client, text!.replaceAll("$WORK", work));
    }
  }
  await seen();
  // After this reply, any unexpected frame would have arrived.
  await client.call("model/list", {});
  expect(came().slice(0, expected.length)).toEqual(expected);
  expect(came().length).toBe(expected.length + 1);
}

let calls = 0;

function call(client: WireClient, text: string): void {
  const [, method, params] = /^(\S+) (.*)$/.exec(text)!;
  client.send({ id: `exact ${++calls}`, method, params: JSON.parse(params!) });
}

/** The frames without values that may vary. */
function comparable(
  frames: readonly Received[],
  work: string,
  begun: ReadonlySet<number>,
): readonly object[] {
  const kept: object[] = [];
  let isSearching = false;
  for (const [nth, frame] of frames.entries()) {
    const shown = JSON.parse(JSON.stringify(shownOf(frame)).replaceAll(work, "$WORK"), (key, value) =>
      /AtMs$/.test(key) && value > 0 ? "TIME" : value,
    );
    const isSearch = frame.method?.startsWith("fuzzyFileSearch/") ?? false;
    isSearching ||= isSearch && frame.params.query !== "" && frame.params.query !== undefined;
    // A session reports the result of its empty query once it has read all folders, if that happens before the first
    // query.
    if (isSearch && !isSearching) continue;
    if (!begun.has(nth) && isRepeated(kept.at(-1), shown)) kept.pop();
    kept.push(sorted(shown));
  }
  return kept;
}

function shownOf({ method, params, result, error }: Received): object {
  if (method !== undefined) return { method, params };
  return error === undefined ? { result } : { error: { code: error.code, message: error.message } };
}

interface Shown {
  readonly method?: string;
  readonly params?: { readonly query?: string };
}

/** A change may be reported twice, and a search reports as often as it finds more. */
function isRepeated(before: Shown | undefined, now: Shown): boolean {
  if (now.method === undefined || before?.method !== now.method) return false;
  if (now.method === "fuzzyFileSearch/sessionUpdated") return before.params!.query === now.params!.query;
  return JSON.stringify(before) === JSON.stringify(now);
}

/** Sorts the folder entries in a frame. */
function sorted<T extends { readonly result?: { readonly entries?: { readonly fileName: string }[] } }>(
  frame: T,
): T {
  frame.result?.entries?.sort((one, other) => (one.fileName < other.fileName ? -1 : 1));
  return frame;
}
