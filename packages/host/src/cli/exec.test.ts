import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MockModel, responses, stream } from "../../../../test/support/mock-model.ts";
import { ended, ProgramUnderTest, says } from "../../../../test/support/program-under-test.ts";

let program: ProgramUnderTest;
beforeAll(async () => {
  program = await ProgramUnderTest.build();
});
afterAll(() => program.remove());

const lines = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe("bobbin exec", () => {
  it("prints the answer on stdout and everything else on stderr", async () => {
    const { code, stdout, stderr } = await program.run(["exec", "hello there"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^This is Bobbin's[\s\S]*You said: hello there\n[\s\S]*config\.toml\.\n$/);
    expect(stderr).toMatch(
      /^model offline · folder .* · thread [\w-]+\nsession id: [\w-]+\ntokens: 3 in, \d+ out\n$/,
    );
  });

  it("shows a warning of a tool server once", async () => {
    const server = 'rap_servers.dice.url="http://127.0.0.1:1"';
    const { stderr } = await program.run(["exec", "-c", server, "hello"]);
    expect(stderr.match(/Tool server dice is not available/g)).toHaveLength(1);
    expect(stderr).toMatch(/^warning: Tool server dice/m);
  });

  it("streams the answer as it comes", async () => {
    const child = program.start(["exec", "say it slowly"]);
    const end = ended(child);
    await says(child.stdout, "Bobbin's");
    expect(child.exitCode).toBe(null);
    child.kill("SIGINT");
    expect((await end).stdout).not.toContain("config.toml");
  });

  it("says on stderr what of the configuration is taken otherwise than it was written, and once", async () => {
    for (const flag of [
      ["-c", "approval_policy=on-failure"],
      ["-a", "on-failure"],
    ]) {
      const { code, stderr } = await program.run(["exec", ...flag, "hello"]);
      expect(code).toBe(0);
      expect(stderr.match(/warning: .*"on-failure" is taken as "on-request"/g), flag.join(" ")).toHaveLength(
        1,
      );
    }
    const { stdout } = await program.run(["exec", "--json", "-c", "approval_policy=on-failure", "hello"]);
    const [first, second] = lines(stdout);
    expect([first!.type, second!.type]).toEqual(["thread.started", "item.completed"]);
    expect(JSON.stringify(second)).toContain("is taken as");
  });

  it.each([
    ["-", ["-"]],
    ["no prompt", []],
  ])("reads the prompt from stdin for %s", async (_name, words) => {
    const { code, stdout } = await program.run(["exec", ...words], { stdin: "\ufeffÄpfel\nund Birnen\r\n" });
    expect(code).toBe(0);
    expect(stdout).toContain("You said: Äpfel\nund Birnen\n\n");
  });

  it("does not wait for stdin when there is a prompt", async () => {
    const child = program.start(["exec", "hello"]);
    expect((await ended(child)).code).toBe(0);
  });

  it.each<[string, string[], string | Uint8Array, RegExp]>([
    ["an empty prompt", ["exec", ""], "", /^bobbin: there is no prompt: say bobbin exec "your prompt"/],
    ["an empty stdin", ["exec"], " \n", /^bobbin: the prompt on stdin is empty/],
    [
      "a stdin that is no text",
      ["exec"],
      Uint8Array.of(0xff, 0xfe),
      /^bobbin: the prompt on stdin is no UTF-8/,
    ],
    [
      "an unknown option",
      ["exec", "--modle", "x", "hi"],
      "",
      /unknown option '--modle'\n\(Did you mean --model/,
    ],
    [
      "an option without its value",
      ["exec", "hi", "-m"],
      "",
      /option '-m, --model <model>' argument missing/,
    ],
    ["a folder that is not there", ["exec", "-C", "nowhere", "hi"], "", /--cd nowhere: there is no folder/],
    ["a file as folder", ["exec", "-C", "bobbin.cjs", "hi"], "", /--cd bobbin.cjs: .* is not a folder/],
    ["a schema that is not there", ["exec", "--output-schema", "x.json", "hi"], "", /x.json: cannot be read/],
    ["a schema that is no JSON", ["exec", "--output-schema", "bobbin.cjs", "hi"], "", /bobbin.cjs: not JSON/],
    ["an override without value", ["exec", "-c", "model", "hi"], "", /-c model: expected key=value/],
    ["a bad value in an override", ["exec", "-c", "sandbox_mode=x", "hi"], "", /"x" is not one of read-only/],
  ])("says what is wrong with %s, and ends with 2", async (_name, args, stdin, told) => {
    const { code, stdout, stderr } = await program.run(args, { stdin });
    expect(stderr).toMatch(told);
    expect([code, stdout]).toEqual([2, ""]);
  });

  it("ends with 1 when the turn cannot start", async () => {
    const { code, stdout, stderr } = await program.run(["exec", "-c", "model_provider=nope", "hi"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(
      "bobbin: unknown model provider: nope (known: offline, openai, anthropic, ollama, lmstudio)\n",
    );
  });

  it("ends with 1 and says so when the key cannot be sent", async () => {
    const env = { OPENAI_API_KEY: "sk-…" };
    const { code, stderr } = await program.run(["exec", "-c", "model_provider=openai", "hi"], { env });
    expect(code).toBe(1);
    expect(stderr).toContain(
      "bobbin: The key for OpenAI has a character that cannot be sent. Set the environment variable OPENAI_API_KEY",
    );
    expect(stderr).not.toContain("trying again");
  });

  it("is interrupted by Ctrl-C, and ends with 130", async () => {
    const child = program.start(["exec", "please go slowly"]);
    const end = ended(child);
    await says(child.stdout, "Bobbin's");
    child.kill("SIGINT");
    const { code, stderr, stdout } = await end;
    expect(code).toBe(130);
    expect(stderr).toContain("Interrupting; Ctrl-C again exits at once.\ninterrupted\n");
    expect(stdout.endsWith("\n")).toBe(true);
  });

  it("can be left while it waits for a prompt", async () => {
    const child = program.start(["exec", "-"]);
    const end = ended(child);
    // It reads stdin once the signals are watched: a pipe that was filled and is empty again shows that.
    await new Promise((resolve) => child.stdin.write("x".repeat(4_000_000), resolve));
    child.kill("SIGINT");
    expect((await end).code).toBe(130);
  });

  it("goes on without harm when nobody reads its answer", async () => {
    const answer = join(program.folder, "answer.txt");
    const child = program.start(["exec", "-o", answer]);
    child.stdout.destroy();
    child.stdin.end("x".repeat(300_000));
    const { code, stderr } = await ended(child);
    expect(stderr).toMatch(/^model .*\nsession id: .*\ntokens: .*\n$/);
    expect(code).toBe(0);
    expect(await readFile(answer, "utf8")).toContain("You said: xxx");
  });

  it("writes the answer to a file too, and says when it cannot", async () => {
    const answer = join(program.folder, "last.txt");
    const { stdout } = await program.run(["exec", "-o", answer, "hi"]);
    expect(`${await readFile(answer, "utf8")}\n`).toBe(stdout);
    const { code, stderr } = await program.run(["exec", "-o", "no/such/folder", "hi"]);
    expect(code).toBe(2);
    expect(stderr).toContain("--output-last-message no/such/folder: cannot be written");
  });

  it("takes a schema, a folder, and the flags of scripts", async () => {
    const schema = join(program.folder, "schema.json");
    await writeFile(schema, '{"type":"object"}');
    const args = ["--skip-git-repo-check", "--ephemeral", "--output-schema", schema, "-C", "/"];
    const { code, stderr } = await program.run(["exec", ...args, "hi"]);
    // The offline model does not answer in JSON.
    expect(code).toBe(3);
    expect(stderr).toMatch(/^model offline · folder \/ · thread/);
  });

  it("[CLI-3] asks the model that -m names, at the provider that its name implies", async () => {
    const model = await MockModel.start(stream(responses.stream(responses.message("Hi!"))));
    const args = ["-m", "gpt-5", "-c", `model_providers.openai.base_url=${JSON.stringify(model.url)}`];
    const env = { OPENAI_API_KEY: "sk-test" };
    const { code, stderr } = await program.run(["exec", ...args, "hi"], { env });
    expect(stderr).toMatch(/^model gpt-5 · /);
    expect([code, model.asked[0]!.body.model]).toEqual([0, "gpt-5"]);
  });

  it("[CLI-3] refuses a model that the offline provider does not have, and says what to do", async () => {
    for (const args of [
      ["-m", "mystery"],
      ["-c", "model=mystery"],
      ["-c", "model_provider=offline", "-m", "gpt-5"],
    ]) {
      const { code, stdout, stderr } = await program.run(["exec", ...args, "hi"]);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(
        /^bobbin: the provider offline has no model (mystery|gpt-5)\nSet model_provider to the provider of \1: openai, /,
      );
    }
  });
});

describe("bobbin exec --json", () => {
  it("prints one event per line", async () => {
    const { code, stdout, stderr } = await program.run(["exec", "--json", "hi"]);
    const id = expect.stringMatching(/^[\w-]{36}$/);
    const text = expect.stringContaining("You said: hi");
    expect([code, stderr]).toEqual([0, ""]);
    expect(lines(stdout)).toEqual([
      { type: "thread.started", thread_id: id },
      { type: "turn.started" },
      { type: "item.completed", item: { id: "item_0", type: "agent_message", text } },
      {
        type: "turn.completed",
        usage: {
          input_tokens: 1,
          cached_input_tokens: 0,
          cache_write_input_tokens: 0,
          output_tokens: expect.any(Number),
          reasoning_output_tokens: 0,
        },
      },
    ]);
  });

  it("tells a failure as an event, and to people on stderr", async () => {
    const { code, stdout, stderr } = await program.run(["exec", "--json", "-c", "model_provider=nope", "hi"]);
    const message = "unknown model provider: nope (known: offline, openai, anthropic, ollama, lmstudio)";
    expect([code, lines(stdout), stderr]).toEqual([1, [{ type: "error", message }], `bobbin: ${message}\n`]);
  });
});
