// Command lines of pages, run as pasted by somebody with an empty account. Only addresses on the network are replaced.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { putTree } from "../support/agent-home.ts";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { blockWith, ROOT, take } from "../support/markdown.ts";
import { KNOWN_CLIENT } from "../support/oauth/authorization-server.ts";
import { browse } from "../support/oauth/browser.ts";
import { confirmDevice } from "../support/oauth/device-browser.ts";
import { oauthStage } from "../support/oauth/stage.ts";
import { Reader } from "../support/reader.ts";
import { notRunBy, usual } from "./snippet-list.ts";

const stage = oauthStage();
const KEY = "sk-key-of-the-documentation";

/** The commands of a block, without comments. */
const commandsOf = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/\s+# .*$/, ""));

/** A browser that agrees to everything. It is a program, as `BROWSER` names one, which writes down what to open. */
async function browser(): Promise<{ readonly path: string; opened(): Promise<string> }> {
  const folder = await freshFolder("browser");
  const [path, opened] = [join(folder, "browser"), join(folder, "opened")];
  await writeFile(path, `#!/bin/sh\nprintf '%s' "$1" > ${opened}.new && mv ${opened}.new ${opened}\n`);
  await chmod(path, 0o755);
  return {
    path,
    async opened() {
      await eventually(() => existsSync(opened), "the browser is opened");
      return readFile(opened, "utf8");
    },
  };
}

describe("commands of the program", () => {
  it("[DOCS-12] log in, store keys and log out", async () => {
    const { path, opened } = await browser();
    const login = ["[login]", `issuer = "${stage.authorization.issuer}"`, `client_id = "${KNOWN_CLIENT}"`];
    const config = ['model_provider = "openai"', ...login].join("\n");
    const reader = await Reader.at("", { config, env: { BROWSER: path, OPENAI_API_KEY: KEY } });
    await writeFile(join(reader.me, "key.txt"), `${KEY}\n`);
    const lines = commandsOf(await blockWith("docs/accounts.md", "sh", "bobbin login"));
    const printed: string[] = [];
    for (const line of lines) {
      let confirming: Promise<unknown> | undefined;
      const running = reader.run(line, (text) => {
        const [, url, code] =
          /open this address on any device:\n\n {2}(\S+)\n\n.*\n\n {2}(\S+)\n/.exec(text) ?? [];
        if (url !== undefined && code !== undefined) confirming ??= confirmDevice(url, code);
      });
      if (line === "bobbin login") expect((await browse(await opened())).status).toBe(200);
      const { code, text } = await running;
      await confirming;
      expect([line, code], text).toEqual([line, 0]);
      expect(text).not.toContain(KEY);
      printed.push(text);
    }
    expect(printed).toEqual([
      expect.stringContaining("Logged in."),
      expect.stringContaining("Logged in."),
      "Stored the key for OpenAI.\n",
      "Stored the key for Anthropic.\n",
      expect.stringContaining("openai: stored by bobbin login"),
      "Logged out of OpenAI.\n",
    ]);
  });

  it("[DOCS-12] import what another agent has", async () => {
    const reader = await Reader.at("");
    await putTree(reader.me, {
      ".claude/CLAUDE.md": "Be brief.\n",
      ".codex/skills/one/SKILL.md": "---\nname: one\ndescription: One.\n---\nDo one thing.\n",
      "code/shop/.git/HEAD": "ref: refs/heads/main\n",
      "code/shop/CLAUDE.md": "Sell.\n",
    });
    const block = await blockWith("docs/moving-in.md", "sh", "bobbin import");
    for (const line of commandsOf(block)) {
      const { code, text } = await reader.run(line);
      expect([line, code], text).toEqual([line, 0]);
      expect(existsSync(join(reader.home, "AGENTS.md"))).toBe(!line.includes("--dry-run"));
    }
    expect(existsSync(join(reader.home, "skills/one/SKILL.md"))).toBe(true);
  });

  it("[DOCS-12] add MCP servers, try them and log in to one", async () => {
    const { path, opened } = await browser();
    const reader = await Reader.at("project", { env: { BROWSER: path, npm_config_offline: "true" } });
    // npx finds the package that is installed here.
    await symlink(join(ROOT, "node_modules"), join(reader.cwd, "node_modules"));
    await mkdir(join(reader.me, "Documents"));
    const lines = [
      ...commandsOf(await blockWith("docs/mcp.md", "sh", "mcp add")),
      ...commandsOf(await blockWith("docs/mcp.md", "sh", "mcp login")),
    ];
    expect(lines).toHaveLength(4);
    for (const line of lines) {
      const running = reader.run(line.replace("https://mcp.example.com/mcp", stage.server.url));
      if (line.includes("mcp login")) expect((await browse(await opened())).status).toBe(200);
      const { code, text } = await running;
      expect([line, code], text).toEqual([line, 0]);
      if (line.includes("mcp test")) expect(text).toContain("read_text_file");
    }
  });
});

/** Commands for a clone of this repository, which take minutes or do not end. Their names and options are checked. */
describe("commands that are too long to be run here", () => {
  it("[DOCS-12] name scripts, options, measures and files that exist", async () => {
    const { scripts } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const node = async (...args: string[]) =>
      (await promisify(execFile)(process.execPath, args, { cwd: ROOT })).stdout;
    const measures = await node("bench/run.mjs", "--help");
    const storm = await node("scripts/storm.mjs", "--help");
    const parts = await node("scripts/proof.mjs", "--help");
    const peer = await node("scripts/peer.mjs", "--help");
    const check: Readonly<Record<string, (args: readonly string[]) => unknown>> = {
      bench: (args) => {
        for (const one of args.filter((arg) => !/^\d+$|\.json$/.test(arg)))
          expect(measures).toMatch(new RegExp(`^ {2}${one}\\b`, "m"));
      },
      proof: (args) => {
        for (const part of args) expect(parts).toMatch(new RegExp(`^ {2}${part}\\b`, "m"));
      },
      peer: ([command]) => expect(peer).toContain(`npm run peer -- ${command} `),
      storm: (args) => expect(storm).toContain(args[0]),
      // The mutants are listed, and not tried.
      mutants: async (args) => expect(await node("scripts/mutants.mjs", ...args, "--list")).not.toBe(""),
      example: ([name]) => expect(existsSync(join(ROOT, "examples", name!, "main.ts")), name).toBe(true),
      test: (args) => {
        for (const path of args.filter((arg) => arg !== "--changed"))
          expect(existsSync(join(ROOT, path)), path).toBe(true);
      },
    };
    const vitest = (args: readonly string[]) => {
      for (const path of args)
        expect(existsSync(join(ROOT, path)) || existsSync(join(ROOT, `${path}.test.ts`)), path).toBe(true);
    };
    for (const one of await usual("sh")) {
      if (/^(bobbin|printenv)\b/m.test(one.text)) continue;
      for (const line of commandsOf(one.text)) {
        const words = line.split(/\s+/).filter((word) => !/^[A-Z_]+=/.test(word));
        const [program, first, second, ...rest] = words;
        const name = first === "run" ? second : first;
        if (program === "npx") vitest(words.slice(3));
        else if (program === "npm") {
          expect(scripts, `${one.at}: ${line}`).toHaveProperty(name!);
          const args = words.slice(words.includes("--") ? words.indexOf("--") + 1 : words.length);
          if (args.length > 0) await check[name!]!(args);
        } else expect([existsSync(join(ROOT, program!)), rest], `${one.at}: ${line}`).toEqual([true, []]);
      }
      take(one.page, one);
    }
  });

  it("[DOCS-12] and the others are all that the list gives to this file", async () => {
    expect(await notRunBy("test/docs/shell-lines.test.ts")).toEqual([]);
  });
});
