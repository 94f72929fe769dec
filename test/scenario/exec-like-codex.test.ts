// Command lines of the Codex CLI's `exec`, as scripts and its TypeScript SDK give them.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { MockModel } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { say } from "../support/model-replies.ts";
import { type Run, runBobbin } from "../support/run-bobbin.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

const FINDINGS = JSON.stringify({
  findings: [],
  overall_correctness: "patch is correct",
  overall_explanation: "All is well.",
  overall_confidence_score: 0.9,
});

async function stage(...replies: Parameters<typeof MockModel.start>) {
  const model = await MockModel.start(...replies);
  const { home, cwd } = await modelHome("responses", model.url);
  return {
    model,
    home,
    cwd,
    bobbin: (args: readonly string[], input = ""): Promise<Run> =>
      runBobbin(args, { env: { BOBBIN_HOME: home }, input }),
  };
}

const events = ({ stdout }: Run) =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; thread_id: string; item: { text?: string } });

/** The texts of the user's messages in a request to the model. */
const prompts = (model: MockModel, nth: number): string[] =>
  model.asked[nth]!.body.input.filter(({ role }: { role?: string }) => role === "user")
    .map(({ content }: { content: { text?: string }[] }) => content.at(-1)!.text)
    .filter((text: string | undefined) => !text?.startsWith("<"));

describe("bobbin exec resume", () => {
  it("[CLI-11] goes on with the thread that it names, or with --last, with the prompt from an argument or stdin", async () => {
    const { model, cwd, bobbin } = await stage(say("One"), say("Two"), say("Three"), say("Four"));
    // As the TypeScript SDK does it.
    const first = await bobbin(["exec", "--experimental-json", "--cd", cwd], "first");
    const threadId = events(first)[0]!.thread_id;
    const options = ["--experimental-json", "--cd", cwd, "--skip-git-repo-check"];
    const second = await bobbin(["exec", ...options, "resume", threadId], "second");
    expect(events(second)[0]).toEqual({ type: "thread.started", thread_id: threadId });
    const third = await bobbin(["exec", "resume", threadId, "third"]);
    expect(third).toMatchObject({ code: 0, stdout: "Three\n" });
    const last = await bobbin(["-C", cwd, "exec", "resume", "--last", "fourth"]);
    expect(last).toMatchObject({ code: 0, stdout: "Four\n" });
    expect(prompts(model, 3)).toEqual(["first", "second", "third", "fourth"]);
    const elsewhere = await bobbin(["-C", await freshFolder("other"), "exec", "resume", "--last", "fifth"]);
    expect([elsewhere.code, elsewhere.stderr]).toEqual([1, expect.stringContaining("no thread of")]);
    const all = await bobbin(["exec", "resume", "--last", "--all", "-"], "sixth");
    expect(all.stderr).toContain(`session id: ${threadId}\n`);
    expect(prompts(model, 4)).toEqual(["first", "second", "third", "fourth", "sixth"]);
  });

  it("[CLI-11] never sends the words of the command line as a prompt", async () => {
    const { model, bobbin } = await stage(say("No"));
    const unfinished = [
      ["exec", "resume"],
      ["exec", "resume", "--all", "hi"],
      ["exec", "resume", "--last", "019a7c2e-41d0-7b3c-9f1e-0c5d2a6b7e80", "hi"],
      ["exec", "resume", "a", "b", "c"],
      ["exec", "--last", "resume", "a", "b"],
      ["exec", "--resume", "a", "resume", "b", "hi"],
      ["exec", "fork", "a"],
      ["exec", "review"],
      ["exec", "review", "--uncommitted", "--base", "main"],
      ["exec", "review", "--uncommitted", "--title", "T"],
      ["exec", "resum", "019a7c2e-41d0-7b3c-9f1e-0c5d2a6b7e80"],
      ["exec", "Make", "the", "tests", "pass"],
    ];
    const ran = await Promise.all(unfinished.map((args) => bobbin(args, "a prompt")));
    for (const [nth, { code, stdout, stderr }] of ran.entries())
      expect([code, stdout], `${unfinished[nth]!.join(" ")}: ${stderr}`).toEqual([2, ""]);
    expect(ran[10]!.stderr).toContain('exec has no command "resum". If it begins the prompt, put');
    const unknown = await bobbin(["exec", "resume", "nothing", "hi"]);
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('the id or name "nothing"')]);
    expect(model.asked).toEqual([]);
  });

  it("[CLI-11] may go on in a fork, which leaves the thread as it was", async () => {
    const { model, cwd, bobbin } = await stage(say("One"), say("Two"), say("Three"));
    const threadId = events(await bobbin(["exec", "--json", "-C", cwd, "first"]))[0]!.thread_id;
    const fork = events(await bobbin(["exec", "--json", "fork", threadId, "aside"]));
    expect(fork[0]!.thread_id).not.toBe(threadId);
    expect(prompts(model, 1)).toEqual(["first", "aside"]);
    await bobbin(["exec", "resume", threadId, "second"]);
    expect(prompts(model, 2)).toEqual(["first", "second"]);
  });
});

it("[CLI-12] attaches images, and names the source of the thread", async () => {
  const { model, home, cwd, bobbin } = await stage(say("A dot."));
  const [one, two] = [join(cwd, "one.png"), join(cwd, "two.png")];
  await Promise.all([one, two].map((file) => writeFile(file, PNG)));
  const images = ["-i", `${one},${two}`, "--image", one];
  const ran = await bobbin(["exec", "--json", "--thread-source", "ci", ...images, "What is it?"]);
  expect(ran.code).toBe(0);
  const sent = model.asked[0]!.body.input.flatMap(({ content }: { content?: { type: string }[] }) =>
    (content ?? []).filter(({ type }) => type === "input_image"),
  );
  expect(sent).toHaveLength(3);
  expect(sent[0].image_url).toBe(`data:image/png;base64,${PNG.toString("base64")}`);
  expect(prompts(model, 0)).toEqual(["What is it?"]);
  const threadId = events(ran)[0]!.thread_id;
  const shown = await runBobbin(["threads", "show", threadId, "--json"], { env: { BOBBIN_HOME: home } });
  expect(shown.stdout).toContain('"threadSource": "ci"');
  const missing = await bobbin(["exec", "-i", join(cwd, "three.png"), "hi"]);
  expect([missing.code, missing.stderr]).toEqual([
    2,
    expect.stringMatching(/--image .*three\.png: there is no/),
  ]);
});

it("[CLI-12] has changes reviewed", async () => {
  const { model, cwd, bobbin } = await stage(say(FINDINGS));
  const ran = await bobbin(["exec", "--json", "-C", cwd, "review", "--base", "main"]);
  expect(ran.code).toBe(0);
  const text = events(ran).find(({ type, item }) => type === "item.completed" && item.text)!.item.text;
  expect(text).toContain("All is well.");
  expect(JSON.stringify(model.asked[0]!.body)).toContain("main");
  const answer = join(cwd, "answer.txt");
  const own = await bobbin(["exec", "-o", answer, "review", "-"], "Look at the tests.");
  expect(own.stdout).toContain("All is well.");
  expect(JSON.stringify(model.asked[1]!.body)).toContain("Look at the tests.");
});

it("[CLI-12] takes options of the turn before the command, and --color", async () => {
  const { model, cwd, bobbin } = await stage(say("Hello!"));
  const ran = await bobbin(["-C", cwd, "-m", "another-model", "-anever", "exec", "--color=always", "Hi"]);
  expect(ran.stderr).toContain("\x1b[2mmodel another-model · folder ");
  expect(ran.stderr).toContain(` · folder ${cwd} · `);
  expect(model.asked[0]!.body.model).toBe("another-model");
  const plain = await bobbin(["exec", "--color", "never", "Hi"]);
  expect(plain.stderr).not.toContain("\x1b");
  const wrong = await bobbin(["-C", cwd, "threads", "list"]);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("unknown option '-C'")]);
});

it("[CLI-12] prints turn.started after the warnings about the model, and names the session on stderr", async () => {
  const { bobbin } = await stage(say("Hello!"));
  const ran = await bobbin(["exec", "--experimental-json", "Hi"]);
  expect(events(ran).map(({ type }) => type)).toEqual([
    "thread.started",
    "item.completed",
    "turn.started",
    "item.completed",
    "turn.completed",
  ]);
  const text = await bobbin(["exec", "Hi"]);
  expect(text.stderr).toMatch(/^session id: [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/m);
});
