// The packages as they would be published, installed in an empty project.
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { build, transform } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";
import { notRunBy } from "../docs/snippet-list.ts";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { environment, spawnHost } from "../support/host-process.ts";
import { blockWith, ROOT } from "../support/markdown.ts";
import { MockModel, responses, stream } from "../support/mock-model.ts";
import { clientOnStdio, PROTOCOL_TABLE, TOOL_SERVER } from "../support/package-programs.ts";
import { type PackageName, projectWith, tarballOf } from "../support/tarballs.ts";

const run = promisify(execFile);
const NAMES: readonly PackageName[] = ["bobbin", "@bobbin/client", "@bobbin/protocol", "@bobbin/rap"];
let project: string;

beforeAll(async () => {
  project = await projectWith(NAMES, ["ws"]);
});

const placeOf = (name: string) => join(project, "node_modules", name);

async function filesOf(name: string): Promise<string[]> {
  const entries = await readdir(placeOf(name), { recursive: true, withFileTypes: true });
  return entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
}

/** Runs a module of the project with this Node. */
async function runModule(text: string): Promise<string> {
  const path = join(project, "main.mjs");
  await writeFile(path, text);
  const env = { ...environment(await freshFolder()), LOG_LEVEL: "error" };
  return (await run(process.execPath, [path], { cwd: project, env })).stdout.trim();
}

describe.each(NAMES)("the package %s", (name) => {
  it("[PACK-1] has what it exports, a README and the licence, and neither tests nor sources", async () => {
    const files = (await filesOf(name)).map((path) => path.slice(placeOf(name).length + 1));
    const wanted = ["LICENSE", "README.md", "package.json"];
    expect(files).toEqual(expect.arrayContaining(wanted));
    expect(files.filter((path) => /\.test\.|\.cache$|(?<!\.d)\.ts$/.test(path))).toEqual([]);
    const manifest = JSON.parse(await readFile(join(placeOf(name), "package.json"), "utf8"));
    expect(manifest).toMatchObject({ name, license: "MIT", engines: { node: ">=20.19" } });
    expect(manifest.private).toBeUndefined();
    const targets = Object.values(
      (manifest.exports ?? {}) as Record<string, string | Record<string, string>>,
    );
    for (const target of targets.flatMap((one) => (typeof one === "string" ? [one] : Object.values(one)))) {
      expect(existsSync(join(placeOf(name), target)), target).toBe(true);
    }
  });

  it("[PACK-1] imports only files that it has, modules of Node, and packages that it names", async () => {
    const manifest = JSON.parse(await readFile(join(placeOf(name), "package.json"), "utf8"));
    const named = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
    for (const path of await filesOf(name)) {
      if (!/\.(js|d\.ts)$/.test(path) || path.includes("/console/")) continue;
      const text = await readFile(path, "utf8");
      for (const [, what] of text.matchAll(/^(?:import|export)\b[^;"']*?from "([^"]+)"/gm)) {
        if (what!.startsWith("node:")) continue;
        if (what!.startsWith(".")) expect(existsSync(join(path, "..", what!)), `${path}: ${what}`).toBe(true);
        else
          expect(
            named.some((one) => what === one || what!.startsWith(`${one}/`)),
            `${path}: ${what}`,
          ).toBe(true);
      }
    }
  });
});

describe("installed in an empty project", () => {
  it("[PACK-1] the program names the licences of the libraries that it contains", async () => {
    const text = await readFile(join(placeOf("bobbin"), "THIRD-PARTY-LICENSES.txt"), "utf8");
    for (const library of ["highlight.js", "markdown-it", "preact", "undici", "ws", "zod"])
      expect(text).toMatch(new RegExp(`^${library.replace(".", "\\.")} [\\d.]+ \\(\\S+\\)$`, "m"));
    expect(text).toContain("Redistribution and use in source and binary forms");
  });

  it("[PACK-2] `npx bobbin` runs a turn", async () => {
    const env = environment(await freshFolder());
    const { stdout } = await run("npx", ["--no-install", "bobbin", "exec", "Hello!"], { cwd: project, env });
    expect(stdout).toContain("You said: Hello!");
  });

  it("[PACK-2] the client runs a host, the tool server serves, and the protocol has its table", async () => {
    expect(await runModule(clientOnStdio())).toBe("completed You said: Hello!");
    expect(await runModule(TOOL_SERVER)).toBe("roll function");
    expect(await runModule(PROTOCOL_TABLE)).toBe("stable");
  });

  it("[PACK-2] the types are whole", async () => {
    await writeFile(join(project, "main.ts"), TYPED);
    const options = {
      strict: true,
      noEmit: true,
      module: "nodenext",
      target: "es2022",
      types: [],
      lib: ["es2023", "dom"],
    };
    const config = { compilerOptions: options, files: ["main.ts"] };
    await writeFile(join(project, "tsconfig.json"), JSON.stringify(config));
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const { stdout } = await run(process.execPath, [tsc, "-p", project]).catch(
      (cause: { stdout: string }) => cause,
    );
    expect(stdout).toBe("");
  });
});

describe("the READMEs of the packages", () => {
  const CLIENT = "packages/client/README.md";
  // Node 20 has no WebSocket of its own.
  const SOCKET = 'import { WebSocket as Socket } from "ws";\nglobalThis.WebSocket ??= Socket;\n';

  it("[DOCS-2] of the client has programs that run as pasted", async () => {
    const host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"] });
    const url = await host.url();
    const here = (text: string) => SOCKET + text.replace("ws://127.0.0.1:4545", url);
    const hello = await blockWith(CLIENT, "js", 'thread.run("Hello!")');
    expect(await runModule(here(hello))).toMatch(/^completed [\s\S]*You said: Hello!/);
    const close = "await bobbin.close();\n";
    expect(hello.endsWith(close)).toBe(true);
    const haiku = await blockWith(CLIENT, "js", "Write a haiku");
    expect(await runModule(here(`${hello.replace(close, "")}${haiku}${close}`))).toMatch(
      /You said: Write a haiku[\s\S]*completed$/,
    );
    const answers = await blockWith(CLIENT, "js", "answers: {");
    expect(await runModule(here(`${answers}console.log(bobbin.connection.state);\n${close}`))).toBe(
      "connected",
    );
    await host.kill();
  });

  it("[DOCS-2] of the client has components that build", async () => {
    const contents = await blockWith(CLIENT, "jsx", "useThreadState");
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: project, loader: "jsx" },
      bundle: true,
      format: "esm",
      write: false,
      external: ["react"],
      // An import that a package does not have is a warning of the bundler.
      logOverride: { "import-is-undefined": "error" },
    });
    expect(outputFiles[0]!.text).toContain("useSyncExternalStore");
  });

  it("[DOCS-2] of the others have programs that run as pasted", async () => {
    const dice = await blockWith("packages/rap/README.md", "js", "createToolServer");
    const once = dice
      .replace("port: 8787", "port: 0")
      .replace("process.env.DICE_TOKEN", '"some-text-of-your-own"');
    expect(await runModule(`${once}process.exit();\n`)).toMatch(/^listening on http/);
    const table = await blockWith("packages/protocol/README.md", "ts", "methods");
    const { code } = await transform(table, { loader: "ts", format: "esm" });
    expect(await runModule(code)).toMatch(/^\d+ stable$/);
  });

  it("[DOCS-2] of the program has commands that run as pasted", async () => {
    const page = "packages/host/README.md";
    const shell = async (line: string, more: Record<string, string> = {}) => {
      const env = { ...environment(await freshFolder()), npm_config_offline: "true", ...more };
      return (await run("sh", ["-c", line], { cwd: project, env })).stdout;
    };
    const [exec, serve] = (await blockWith(page, "sh", "app-server")).trimEnd().split("\n");
    expect(await shell(exec!)).toContain("You said: Hello!");
    const host = spawn("sh", ["-c", `${serve!.replace(":4545", ":0")}`], {
      cwd: project,
      env: environment(await freshFolder()),
      stdio: ["pipe", "ignore", "pipe"],
      detached: true,
    });
    let said = "";
    host.stderr!.on("data", (bytes) => (said += String(bytes)));
    await eventually(() => said.includes('"listening"'), "the host listens");
    // npx and the program that it started.
    process.kill(-host.pid!, "SIGKILL");
    await new Promise((resolve) => host.once("close", resolve));
    const model = await MockModel.start(stream(responses.stream(responses.message("Hi!"))));
    const line = (await blockWith(page, "sh", "OPENAI_API_KEY")).trimEnd();
    const there = `exec -c model_providers.openai.base_url=${model.url}`;
    expect(await shell(line.replace("…", "of-a-reader").replace("exec", there))).toBe("Hi!\n");
  });

  it("[DOCS-2] and the page on deployment install what runs", async () => {
    const lines = (await blockWith("docs/deploy.md", "sh", "npm install -g bobbin\n")).trimEnd().split("\n");
    expect(lines).toEqual(["npm install -g bobbin", "bobbin doctor"]);
    const prefix = await freshFolder("prefix");
    const flags = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
    await run("npm", ["install", "-g", "--prefix", prefix, ...flags, await tarballOf("bobbin")]);
    const env = environment(await freshFolder(), { PATH: `${join(prefix, "bin")}:${process.env["PATH"]}` });
    const { stdout } = await run("sh", ["-c", lines[1]!], { env }).catch(
      (cause: { stdout: string }) => cause,
    );
    expect(stdout).toMatch(/model +offline/);
  });

  it("[DOCS-11] and other pages are run as the list says", async () => {
    expect(await notRunBy("test/packages/tarballs.test.ts")).toEqual([]);
  });
});

/** Uses each package with its types. Lines with an expected error prove that the types are not `any`. */
const TYPED = `
import { connect, type ThreadState } from "@bobbin/client";
import { useThreadState } from "@bobbin/client/react";
import { methods, type Params } from "@bobbin/protocol";
import { createToolServer, noAuth, tool } from "@bobbin/rap";
import { discover } from "@bobbin/rap/runtime";
const bobbin = await connect("ws://127.0.0.1:1", { answers: { command: () => "accept" } });
const { status } = await (await bobbin.startThread({ cwd: "/" })).run("hi");
const ended: "completed" | "interrupted" | "failed" = status;
const state: (thread: never) => ThreadState = useThreadState;
const params: Params<"thread/start"> = { cwd: "/" };
// @ts-expect-error
const wrong: Params<"thread/start"> = { cwd: 1 };
// @ts-expect-error
await connect("ws://127.0.0.1:1", { answers: { command: () => "maybe" } });
const server = createToolServer({ name: "s", auth: noAuth, tools: [tool({ name: "t", description: "d", run: () => "x" })] });
export { discover, ended, methods, params, server, state, wrong };
`;
