import { describe, expect, it } from "vitest";
import type { Timers } from "../../platform/platform.ts";
import { McpError, type McpPromptPage, type ThreadServer } from "./mcp-interface.ts";
import { listPrompts, promptInput } from "./server-prompts.ts";

type List = (cursor: string | null, signal: AbortSignal) => Promise<McpPromptPage>;

function server(name: string, list: List, hasPrompts = true): ThreadServer {
  return { name, hasPrompts, listPrompts: list } as ThreadServer;
}

const page = (...names: unknown[]): McpPromptPage => ({
  prompts: names.map((name) => ({ name })),
  nextCursor: null,
});

/** Never answers, and rejects when it is aborted. */
const silent: List = (_cursor, signal) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

/** Timers whose time is over when the test says so. */
function handTimers() {
  const due = new Set<() => void>();
  const after = (_ms: number, run: () => void) => {
    due.add(run);
    return () => due.delete(run);
  };
  return { timers: { after } as unknown as Timers, due };
}

const NEVER = new AbortController().signal;

describe("the prompts of servers", () => {
  it("[PROMPT-9] come without those of servers that are late or fail", async () => {
    const { timers, due } = handTimers();
    const broken: List = async () => {
      throw new McpError("refused", "not today");
    };
    const asked = server("none", silent, false);
    const listing = listPrompts(
      [server("late", silent), server("quick", async () => page("a")), server("broken", broken), asked],
      timers,
      NEVER,
    );
    // The time of the first server is over.
    [...due][0]!();
    const { data, warnings } = await listing;
    expect(data.map(({ server: of, name }) => `${of} ${name}`)).toEqual(["quick a"]);
    expect(new Map(warnings.map(({ server: of, message }) => [of, message]))).toEqual(
      new Map([
        ["late", "it does not list its prompts"],
        ["broken", "not today"],
      ]),
    );
  });

  it("[PROMPT-9] end with the client that asked, and leave no timer", async () => {
    const { timers, due } = handTimers();
    const gone = new AbortController();
    const listing = listPrompts([server("late", silent)], timers, gone.signal);
    gone.abort(new Error("gone"));
    await expect(listing).rejects.toThrow("gone");
    expect(due.size).toBe(0);
  });

  it("[PROMPT-9] are bounded in number and pages, and malformed ones are left out", async () => {
    const { timers } = handTimers();
    let pages = 0;
    const endless: List = async () => ({
      prompts: [
        { name: `p${pages++}` },
        { name: 7 },
        { name: "" },
        { name: "a b" },
        { name: "x".repeat(257) },
      ],
      nextCursor: "more",
    });
    const { data } = await listPrompts([server("endless", endless)], timers, NEVER);
    expect(data).toHaveLength(10);
    expect(data[9]!.name).toBe("p9");
    const names = Array.from({ length: 600 }, (_, nth) => `p${nth}`);
    const many = await listPrompts([server("many", async () => page(...names))], timers, NEVER);
    expect(many.data).toHaveLength(500);
    const args = Array.from({ length: 60 }, (_, nth) => ({ name: `a${nth}`, required: "yes" }));
    const wide = async () => ({ prompts: [{ name: "w", arguments: [null, ...args] }], nextCursor: null });
    const [prompt] = (await listPrompts([server("wide", wide)], timers, NEVER)).data;
    expect(prompt!.arguments).toHaveLength(50);
    expect(prompt!.arguments[0]).toEqual({ name: "a0", description: null, required: false });
  });

  it("[PROMPT-9] become at most 128 parts of input", () => {
    const messages = Array.from({ length: 130 }, (_, nth) => ({
      role: "user",
      content: { type: "text", text: `${nth}` },
    }));
    const input = promptInput({ messages });
    expect(input).toHaveLength(129);
    expect(input.at(-1)).toEqual({
      type: "text",
      text: "(2 more parts of the result left out: there are too many)",
    });
  });
});
