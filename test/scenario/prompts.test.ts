// Saved prompts: files in the home and in trusted projects, listed, read and expanded.
import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PromptArgumentsError, type PromptReader, promptCommandInput } from "@bobbin/client";
import type { SavedPrompt } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { freshFolder, markRepository } from "../support/folder.ts";
import { spawnHost, stdioHost } from "../support/host-process.ts";
import { KEY, signedBearer } from "../support/signed-token.ts";
import type { WireClient } from "../support/wire-client.ts";

function put(path: string, text = "Do it."): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

async function stage(trust?: "trusted" | "untrusted") {
  const home = await freshFolder();
  const project = await freshFolder("project");
  markRepository(project);
  mkdirSync(join(project, "sub"));
  if (trust !== undefined)
    put(join(home, "config.toml"), `[projects.${JSON.stringify(project)}]\ntrust_level = "${trust}"\n`);
  const { client } = await stdioHost({ home, capabilities: { experimentalApi: true } });
  return { client, home, project, cwd: join(project, "sub") };
}

async function names(client: WireClient, cwd: string): Promise<string[]> {
  const { data } = await client.call("prompts/list", { cwd });
  return data.map(({ name, source }: SavedPrompt) => `${source} ${name}`);
}

describe("saved prompts", () => {
  it("[PROMPT-1] are the Markdown files of the home, with what their front matter says", async () => {
    const { client, home, cwd } = await stage();
    expect(await client.call("prompts/list")).toEqual({ data: [], warnings: [] });
    const ticket = put(
      join(home, "prompts", "ticket.md"),
      '---\r\ndescription: "Writes: a ticket"\r\nargument-hint: [ID=<id>] [more]\r\nmodel: any\r\n---\r\n\r\nTicket $ID.\r\n',
    );
    const plain = put(join(home, "prompts", "git", "Commit.MD"), "\uFEFF--- not a fence\nCommit it.\n---\n");
    put(join(home, "prompts", "notes.txt"));
    put(join(home, "prompts", ".hidden.md"));
    const data = [
      { name: "git:Commit", description: null, argumentHint: null, source: "user", path: plain },
      {
        ...{ name: "ticket", description: "Writes: a ticket", argumentHint: "[ID=<id>] [more]" },
        ...{ source: "user", path: ticket },
      },
    ];
    expect(await client.call("prompts/list", { cwd })).toEqual({ data, warnings: [] });
    expect(await client.call("prompts/read", { name: "ticket" })).toEqual({
      prompt: data[1],
      content: "Ticket $ID.",
    });
    expect((await client.call("prompts/read", { name: "git:Commit", cwd })).content).toBe(
      "--- not a fence\nCommit it.\n---",
    );
    // What was changed is read anew.
    put(ticket, "Another one.");
    expect((await client.call("prompts/read", { name: "ticket" })).content).toBe("Another one.");
    for (const name of ["none", "../config", "ticket.md", ""])
      expect(await client.refusal("prompts/read", { name })).toMatchObject({
        code: -32602,
        data: { code: "promptNotFound", retryable: false },
      });
  });

  it("[PROMPT-2] of a trusted project are offered below those of the home, the nearest first", async () => {
    const { client, home, project, cwd } = await stage("trusted");
    const own = put(join(home, "prompts", "a.md"), "home");
    const hidden = put(join(project, ".bobbin", "prompts", "a.md"), "root");
    const outer = put(join(project, ".codex", "prompts", "b.md"), "root");
    put(join(cwd, ".codex", "prompts", "b.md"), "sub");
    put(join(project, ".codex", "prompts", "c.md"), "codex");
    const codex = join(project, ".codex", "prompts", "c.md");
    put(join(project, ".bobbin", "prompts", "c.md"), "bobbin");
    const { data, warnings } = await client.call("prompts/list", { cwd });
    expect(data.map(({ name, source }: SavedPrompt) => `${source} ${name}`)).toEqual([
      "user a",
      "project b",
      "project c",
    ]);
    const read = async (name: string) => (await client.call("prompts/read", { name, cwd })).content;
    expect([await read("a"), await read("b"), await read("c")]).toEqual(["home", "sub", "bobbin"]);
    expect(warnings.map(({ path }: { path: string }) => path)).toEqual([hidden, outer, codex]);
    expect(warnings[0].message).toBe(`is not offered, because ${own} has the same name`);
    // Beside the project there is none of them.
    expect(await names(client, await freshFolder())).toEqual(["user a"]);
  });

  it("[PROMPT-2] of a project that nobody trusts are not read, and a warning says how to change that", async () => {
    const { client, project, cwd } = await stage();
    put(join(project, ".bobbin", "prompts", "a.md"));
    const { data, warnings } = await client.call("prompts/list", { cwd });
    expect(data).toEqual([]);
    expect(warnings).toEqual([
      {
        path: join(project, ".bobbin", "prompts"),
        message: expect.stringContaining(`set projects."${project}".trust_level to "trusted"`),
      },
    ]);
    expect(await client.refusal("prompts/read", { name: "a", cwd })).toMatchObject({
      data: { code: "promptNotFound" },
    });
    await client.call("config/value/write", {
      keyPath: `projects."${project}".trust_level`,
      value: "trusted",
      mergeStrategy: "replace",
    });
    expect(await names(client, cwd)).toEqual(["project a"]);
  });

  it("[PROMPT-2] of a project that is marked as untrusted are not mentioned", async () => {
    const { client, project, cwd } = await stage("untrusted");
    put(join(project, ".bobbin", "prompts", "a.md"));
    expect(await client.call("prompts/list", { cwd })).toEqual({ data: [], warnings: [] });
  });

  it("[PROMPT-3] are listed beside files that cannot be used, each of which has a warning", async () => {
    const { client, home } = await stage();
    const at = (...path: string[]) => join(home, "prompts", ...path);
    const elsewhere = await freshFolder();
    put(join(elsewhere, "shared", "linked.md"), "Through a folder.");
    put(at("good.md"));
    symlinkSync(at("good.md"), at("link.md"));
    symlinkSync(join(elsewhere, "shared"), at("shared"));
    symlinkSync(at(), at("circle"));
    symlinkSync(at("none.md"), at("gone.md"));
    put(at("empty.md"), "---\ndescription: nothing\n---\n \n");
    put(at("broken.md"), "---\nno key\n---\nText");
    put(at("quote.md"), '---\ndescription: "open\n---\nText');
    put(at("with space.md"));
    put(at("mcp:server:x.md"));
    put(at(`${"n".repeat(65)}.md`));
    put(at("binary.md"), "a\0b");
    put(at("large.md"), "x".repeat(128 * 1024 + 1));
    put(at("just.md"), "x".repeat(128 * 1024));
    mkdirSync(at("folder.md"));
    execFileSync("mkfifo", [at("pipe.md")]);
    const { data, warnings } = await client.call("prompts/list");
    const listed: string[] = data.map(({ name }: SavedPrompt) => name);
    expect(listed.filter((name) => !name.startsWith("circle:"))).toEqual([
      "good",
      "just",
      "link",
      "shared:linked",
    ]);
    // A circle ends at the limit of the depth.
    expect(listed).toContain("circle:circle:circle:circle:good");
    expect(listed.some((name) => name.includes("circle:".repeat(5)))).toBe(false);
    const found = new Map(
      warnings.map(({ path, message }: { path: string; message: string }) => [path, message]),
    );
    const expected = {
      gone: "the file is gone",
      empty: "the prompt is empty",
      broken: 'line 2 is no "key: value"',
      quote: "line 2: a quote is not closed",
      "with space": "the name of a prompt has no spaces, and does not begin with mcp:",
      "mcp:server:x": "the name of a prompt has no spaces, and does not begin with mcp:",
      ["n".repeat(65)]: "the name is longer than 64 characters",
      binary: "the file is not text",
      large: "the file is larger than 131072 bytes",
      pipe: expect.stringContaining("not a regular file"),
    };
    for (const [name, message] of Object.entries(expected))
      expect(found.get(at(`${name}.md`)), name).toEqual(message);
    expect([...found.keys()].filter((path) => dirname(path as string) === at())).toHaveLength(10);
  });

  it("[PROMPT-3] are 500 at most in one place, those with the first names", async () => {
    const { client, home } = await stage();
    for (let nth = 100; nth <= 600; nth++) put(join(home, "prompts", `p${nth}.md`));
    const { data, warnings } = await client.call("prompts/list");
    expect(data).toHaveLength(500);
    expect(data.at(-1).name).toBe("p599");
    expect(warnings).toEqual([
      { path: join(home, "prompts"), message: "only the first 500 prompts are offered" },
    ]);
  });

  it("[PROMPT-4] are expanded for a client that sends /prompts:name", async () => {
    const { client, home, cwd } = await stage();
    put(
      join(home, "prompts", "ticket.md"),
      "---\nargument-hint: ID=<id>\n---\nDo $ID for $PERSON: $ARGUMENTS",
    );
    put(join(home, "prompts", "plain.md"), "Go to $PLACE.");
    const reader: PromptReader = { request: (method, params) => client.call(method, params) };
    const expand = (text: string) => promptCommandInput(reader, text, { cwd });
    expect(await expand("/prompts:ticket ID=7 PERSON='Ann B' at once")).toEqual([
      { type: "text", text: "Do 7 for Ann B: at once" },
    ]);
    expect(await expand("prompts:ticket")).toBeUndefined();
    expect(await expand(" /prompts:ticket")).toBeUndefined();
    expect(await expand("/prompts: ticket")).toBeUndefined();
    const refused = await expand("/prompts:ticket 7").catch((cause: unknown) => cause);
    expect(refused).toBeInstanceOf(PromptArgumentsError);
    expect(refused).toMatchObject({
      names: ["ID", "PERSON"],
      message: "/prompts:ticket needs ID, PERSON. Write: /prompts:ticket ID=<id>",
    });
    await expect(expand("/prompts:plain")).rejects.toThrow("needs PLACE. Write: /prompts:plain PLACE=…");
    await expect(expand("/prompts:none")).rejects.toThrow("promptNotFound");
  });

  it("[PROMPT-5] of the home and of projects are not for subjects", async () => {
    const home = await freshFolder();
    const work = realpathSync(await freshFolder("work"));
    put(join(home, "prompts", "a.md"), "secret");
    put(join(work, ".bobbin", "prompts", "b.md"), "secret");
    symlinkSync(join(home, "prompts"), join(work, "linked"));
    put(join(home, "key"), KEY);
    const config = `[projects.${JSON.stringify(work)}]\ntrust_level = "trusted"\n[subjects.bob]\nroots = [${JSON.stringify(work)}]\n`;
    put(join(home, "config.toml"), config);
    const auth = ["--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", join(home, "key")];
    const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0", ...auth] });
    const bob = await host.connect(undefined, signedBearer("bob"));
    await bob.initialize({ experimentalApi: true });
    expect(await bob.call("prompts/list", { cwd: work })).toEqual({ data: [], warnings: [] });
    for (const cwd of [home, "/", join(work, "linked")]) {
      const refused = { data: { code: "pathNotAllowed" } };
      expect(await bob.refusal("prompts/list", { cwd }), cwd).toMatchObject(refused);
      expect(await bob.refusal("prompts/read", { name: "a", cwd }), cwd).toMatchObject(refused);
    }
    expect(await bob.refusal("prompts/read", { name: "a" })).toMatchObject({
      data: { code: "promptNotFound" },
    });
  });
});
