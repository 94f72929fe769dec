import { describe, expect, it } from "vitest";
import type { ToolServerSettings } from "./rap-settings.ts";
import type { Catalog, Offer } from "./server-catalog.ts";
import { ThreadToolsets } from "./thread-toolsets.ts";

const server = (name: string): ToolServerSettings => ({
  name,
  url: `https://${name}.example`,
  headers: {},
  bearerTokenEnvVar: null,
  allowedOrigins: [],
  approval: "destructive",
  callDeadlineSecs: null,
});

function toolsets() {
  const asked: string[] = [];
  const down = new Set<string>();
  const sets = new ThreadToolsets({
    clock: { now: () => 0, monotonic: () => 0 },
    catalog: ({ name }) => {
      const ask = async (): Promise<Offer> => {
        asked.push(name);
        if (down.has(name)) return { kind: "unreachable", says: "it is down" };
        return { kind: "ready", toolset: { name } as never, tools: [{ name } as never], stale: null };
      };
      return { ask, askAgain: ask } as unknown as Catalog;
    },
    supervise() {},
    warn: () => true,
    log() {},
  });
  const load = async (threadId: string, servers: readonly string[], parentId: string | null = null) => {
    const taken = new Map<string, string>();
    sets.load(threadId, { servers: servers.map(server), taken, adopted: false, parentId });
    await sets.ready(threadId);
    return sets.tools(threadId).map(({ name }) => name);
  };
  return { asked, down, sets, load };
}

describe("the toolsets of a session", () => {
  it("are asked for once, for all of its threads", async () => {
    const { asked, sets, load } = toolsets();
    sets.load("root", { servers: [server("desk")], taken: new Map(), adopted: false, parentId: null });
    // The parent's own question is still under way.
    expect(await load("child", ["desk"], "root")).toEqual(["desk"]);
    expect(await load("grandchild", ["desk"], "child")).toEqual(["desk"]);
    expect(asked).toEqual(["desk"]);
    expect(await load("another", ["desk"])).toEqual(["desk"]);
    expect(asked).toEqual(["desk", "desk"]);
  });

  it("are asked for by a child whose parent does not have them, or is not loaded any more", async () => {
    const { asked, down, sets, load } = toolsets();
    down.add("mail");
    await load("root", ["desk", "mail"]);
    down.clear();
    expect(await load("child", ["desk", "mail", "own"], "root")).toEqual(["desk", "mail", "own"]);
    expect(asked).toEqual(["desk", "mail", "mail", "own"]);
    sets.unload("root");
    expect(await load("orphan", ["desk"], "root")).toEqual(["desk"]);
    expect(asked).toHaveLength(5);
  });
});
