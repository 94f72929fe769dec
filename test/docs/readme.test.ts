// Runs the README as it stands; only addresses, ports, files and keys are replaced by those of the test.
import { execFile } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type MethodName, methods } from "@bobbin/protocol";
import { expect, it } from "vitest";
import { javascript } from "../../packages/host/src/server/site/landing-page-examples.ts";
import { freshFolder } from "../support/folder.ts";
import { environment, spawnHost, stdioHost } from "../support/host-process.ts";
import { blockWith, ROOT } from "../support/markdown.ts";
import { MockModel, messages, responses, stream } from "../support/mock-model.ts";
import { runExample, savedExample } from "../support/saved-example.ts";
import { notRunBy } from "./snippet-list.ts";

const SOCKET = ["--listen", "ws://127.0.0.1:0"];

/** Runs a command line in the project's folder, as a reader would. */
async function shell(line: string): Promise<string> {
  const { LOG_FORMAT: _, ...env } = environment(await freshFolder());
  return (await promisify(execFile)("sh", ["-c", line], { cwd: ROOT, env })).stdout;
}

it("[DOCS-2] names commands that reach real models", async () => {
  const text = await blockWith("README.md", "sh", "OPENAI_API_KEY");
  for (const [provider, reply, path] of [
    ["openai", responses.stream(responses.message("Hi!")), "/v1/responses"],
    ["anthropic", messages.stream([messages.text(0, "Hi!")]), "/v1/messages"],
  ] as const) {
    const model = await MockModel.start(stream(reply));
    const line = text.split("\n").find((one) => one.includes(`model_provider=${provider}`))!;
    const there = `exec -c model_providers.${provider}.base_url=${model.url}`;
    expect(await shell(line.replace("…", "of-a-reader").replace("exec", there))).toBe("Hi!\n");
    expect(model.asked[0]!.path).toBe(path);
  }
});

it("[DOCS-2] has a client that runs on this version of Node", async () => {
  const host = await spawnHost({ args: SOCKET });
  const text = await blockWith("README.md", "ts", "connectWebSocket");
  expect(text).toContain('"ws://127.0.0.1:4545"');
  const root = await savedExample("hello", text.replace("ws://127.0.0.1:4545", await host.url()));
  const example = runExample(root, "hello");
  expect([await example.ended, example.output]).toEqual([0, expect.stringContaining("You said: Hello!")]);
});

it("[DOCS-2] names listeners that open", async () => {
  const text = await blockWith("README.md", "sh", "--listen ws://0.0.0.0:4545");
  const token = join(await freshFolder("token"), "token");
  await writeFile(token, "a-capability-token-of-the-documentation\n");
  const lines = text.trimEnd().split("\n");
  expect(lines).toHaveLength(3);
  for (const line of lines) {
    const command = line.replace(/ +#.*/, "").replaceAll(":4545", ":0").replace("/etc/bobbin/token", token);
    const [program, name, ...args] = command.split(/\s+/);
    expect([program, name]).toEqual(["bin/bobbin", "app-server"]);
    const host = await spawnHost({ args });
    if (args.includes("--listen")) {
      const urls = await host.urls();
      expect(urls).toHaveLength(args.filter((arg) => arg === "--listen").length);
    } else await host.stdio().initialize();
    await host.kill();
  }
});

it("[DOCS-11] runs all that the list gives to this file", async () => {
  expect(await notRunBy("test/docs/readme.test.ts")).toEqual([]);
});

it("[DOCS-2] leads to a page whose program runs", async () => {
  const host = await spawnHost({ args: SOCKET });
  const file = join(await freshFolder("page"), "page.mjs");
  // The page asks for Node 22, which has a WebSocket of its own.
  const head = `import { WebSocket as WS } from ${JSON.stringify(join(ROOT, "node_modules/ws/wrapper.mjs"))};\nglobalThis.WebSocket ??= WS;\n`;
  await writeFile(file, `${head}${javascript(await host.url(), false)}\n`);
  const { stdout } = await promisify(execFile)(process.execPath, [file]);
  expect(stdout).toContain("You said: Hello, who are you?");
});

it("[DOCS-3] lists every method, under what is served or what is not", async () => {
  const page = await readFile(join(ROOT, "docs/methods.md"), "utf8");
  const rows = page.split("\n").filter((line) => /^\| (?!area|---)/.test(line));
  const served = new Set<string>();
  const missing = new Set<string>();
  for (const row of rows) {
    const [, , here, notYet] = row.split("|");
    for (const [cell, names] of [
      [here!, served],
      [notYet!, missing],
    ] as const) {
      let prefix = "";
      for (const [, name, star] of cell.matchAll(/`([\w/]+)`(?:\*\*)?(\\\*)?/g)) {
        // In some rows the prefix is written once.
        const full = name! in methods ? name! : `${prefix}${name}`;
        prefix ||= `${full.split("/", 1)[0]}/`;
        names.add(full);
        const method = methods[full as MethodName];
        expect(method, `${full} is a method`).toBeDefined();
        expect(star !== undefined, `${full} has a star`).toBe(method.stability === "experimental");
      }
    }
  }
  expect([...served, ...missing].sort()).toEqual(Object.keys(methods).sort());
  const { client } = await stdioHost({ capabilities: { experimentalApi: true } });
  for (const name of missing) {
    const { data } = await client.refusal(name, params(name as MethodName));
    expect([name, data.code]).toEqual([name, "methodNotImplemented"]);
  }
});

/** What lets a method that is not served be asked for at all. */
function params(name: MethodName): object {
  return name === "externalAgentConfig/import" ? { migrationItems: [] } : {};
}

it("[DOCS-9] lists every error with its code, and whether a retry can succeed", async () => {
  const page = await readFile(join(ROOT, "docs/protocol.md"), "utf8");
  const listed = page.matchAll(/^\| `(\w+)` \| (-\d+) \| (yes|no) \|/gm);
  const folder = join(ROOT, "packages/host/src/errors");
  const files = await readdir(folder);
  const sources = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
  const errors = sources.join("\n").matchAll(/^ {2}(\w+): \{\s*wire: (-\d+),\s*retryable: (true|false)/gm);
  const row = (name: string, code: string, retryable: boolean) => `${name} ${code} ${retryable}`;
  const expected = [...errors].map(([, name, code, retryable]) => row(name!, code!, retryable === "true"));
  expect(expected.length).toBeGreaterThan(100);
  const found = [...listed].map(([, name, code, retryable]) => row(name!, code!, retryable === "yes"));
  expect(found.sort()).toEqual(expected.sort());
});
