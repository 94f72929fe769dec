// Tool servers run where there is no Node, so what is imported at their start must not need it.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { build } from "esbuild";
import { expect, it } from "vitest";

const IMPORT = /^(?:import|export)(?! type)[^;]*? from "([^"]+)"|^import "([^"]+)"/gms;

/** Everything that a module needs when it is loaded. */
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

it("a tool server is loaded without anything of Node", () => {
  const all = [...needs(join(import.meta.dirname, "server/index.ts"))];
  expect(all.length).toBeGreaterThan(30);
  expect(all.filter((file) => !file.endsWith(".ts"))).toEqual([]);
  expect(all.filter((file) => file.includes("/node/"))).toEqual([]);
});

it("the messages are read without the server, and without the runtime", () => {
  const all = [...needs(join(import.meta.dirname, "wire/index.ts"))];
  expect(all.filter((file) => file.endsWith(".ts") && !file.includes("/wire/"))).toEqual([]);
});

it("a tool server answers in a bundle, where there is nothing but the web's own globals", async () => {
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
  // As a Worker's runtime does: what goes on after the answer is waited for.
  let after: Promise<unknown> = Promise.resolve();
  const waitUntil = (work: Promise<unknown>): void => {
    after = work;
  };
  expect((await server.fetch(request, {}, { waitUntil })).status).toBe(200);
  await after;
  expect(posted).toMatchObject([{ type: "tool_result", id: "c", text: "pong" }]);
});
