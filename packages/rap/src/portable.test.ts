// Tool servers also run on platforms without Node, so nothing that they import at their start may need Node.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { expect, it } from "vitest";

const IMPORT = /^(?:import|export)(?! type)[^;]*? from "([^"]+)"|^import "([^"]+)"/gms;

/** All modules that a module imports statically, directly or indirectly. */
function needs(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  if (!file.endsWith(".ts")) return seen;
  for (const [, from, bare] of readFileSync(file, "utf8").matchAll(IMPORT)) {
    const what = (from ?? bare)!;
    needs(what.startsWith(".") ? join(dirname(file), what) : what, seen);
  }
  return seen;
}

it("a tool server loads without any module of Node", () => {
  const all = [...needs(join(import.meta.dirname, "server/index.ts"))];
  expect(all.length).toBeGreaterThan(30);
  expect(all.filter((file) => !file.endsWith(".ts"))).toEqual([]);
  expect(all.filter((file) => file.includes("/node/"))).toEqual([]);
});

it("the wire module imports neither the server nor the runtime", () => {
  const all = [...needs(join(import.meta.dirname, "wire/index.ts"))];
  expect(all.filter((file) => file.endsWith(".ts") && !file.includes("/wire/"))).toEqual([]);
});

it("a bundled tool server answers with only the web's globals", async () => {
  const { outputFiles } = await build({
    stdin: {
      contents: `
        import { bearer, createToolServer, tool } from "./server/index.ts";
        const ping = tool({ name: "ping", description: "Answers.", run: () => "pong" });
        globalThis.server = createToolServer({ name: "bundled", auth: bearer("a-long-token"), tools: [ping] });
      `,
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    format: "iife",
    platform: "neutral",
    mainFields: ["module", "main"],
    external: ["node:*"],
    write: false,
  });
  const posted: unknown[] = [];
  const { AbortController, Headers, Request, Response, TextDecoder, TextEncoder, URL } = globalThis;
  const { URLSearchParams, atob, btoa, clearTimeout, console, crypto, setTimeout } = globalThis;
  const web = { AbortController, Headers, Request, Response, TextDecoder, TextEncoder, URL, URLSearchParams };
  const fetch = async (_: string, { body }: { body: string }): Promise<Response> => {
    posted.push(JSON.parse(body));
    return new Response();
  };
  const world = createContext({
    ...web,
    atob,
    btoa,
    clearTimeout,
    console,
    crypto,
    setTimeout,
    fetch,
    Uint8Array,
  });
  runInContext(outputFiles[0]!.text, world);
  const server = world["server"] as { fetch: (request: Request, ...more: unknown[]) => Promise<Response> };
  const headers = { "Content-Type": "application/json", Authorization: "Bearer a-long-token" };
  const call = {
    operation: "ping",
    arguments: {},
    id: "c",
    group_id: "t",
    callback_url: "https://host.example.com",
  };
  const request = new Request("https://x/invoke", { method: "POST", headers, body: JSON.stringify(call) });
  // Like a Worker's runtime: awaits the work that continues after the response.
  let after: Promise<unknown> = Promise.resolve();
  const waitUntil = (work: Promise<unknown>): void => {
    after = work;
  };
  expect((await server.fetch(request, {}, { waitUntil })).status).toBe(200);
  await after;
  expect(posted).toMatchObject([{ type: "tool_result", id: "c", text: "pong" }]);
});
