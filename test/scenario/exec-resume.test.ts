// `bobbin exec --resume`, `--last`, `--output-schema` and `-o`.
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { MockModel } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { say } from "../support/model-replies.ts";
import { type Run, runBobbin } from "../support/run-bobbin.ts";

const exec = (home: string, ...args: readonly string[]): Promise<Run> =>
  runBobbin(["exec", ...args], { env: { BOBBIN_HOME: home } });

it("[CLI-9] goes on with a thread by its id, or with the last one of the folder", async () => {
  const home = await freshFolder("home");
  const [cwd, other] = [await freshFolder("work"), await freshFolder("work")];
  const { stderr } = await exec(home, "-C", cwd, "Hello!");
  const threadId = /thread (\S+)/.exec(stderr)![1]!;
  await exec(home, "-C", other, "Hello!");
  const last = await exec(home, "--last", "-C", cwd, "Again");
  expect(last.stderr).toContain(`folder ${cwd} · thread ${threadId}`);
  expect(last.stdout).toContain("message 2 of this thread");
  const resumed = await exec(home, "--resume", threadId, "And again");
  expect(resumed.stdout).toContain("message 3 of this thread");
  // It works where it did, not where the command was started.
  expect(resumed.stderr).toContain(`folder ${cwd} · `);
  const moved = await exec(home, "--resume", threadId, "-C", other, "Elsewhere");
  expect(moved.stderr).toContain(`folder ${other} · thread ${threadId}`);
});

it("[CLI-9] says what is wrong with --resume and --last", async () => {
  const home = await freshFolder("home");
  const [none, unknown, both, unsaved] = await Promise.all([
    exec(home, "--last", "Hello!"),
    exec(home, "--resume", "nothing", "Hello!"),
    exec(home, "--resume", "a", "--last", "Hello!"),
    exec(home, "--last", "--ephemeral", "Hello!"),
  ]);
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("no thread of")]);
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('the id or name "nothing"')]);
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("contradict each other")]);
  expect([unsaved.code, unsaved.stderr]).toEqual([2, expect.stringContaining("for new threads")]);
});

it("[CLI-9] runs on the host that has the thread loaded, and asks the model that -m names there", async () => {
  const model = await MockModel.start(say("One"), say("Two"), say("Three"));
  const { home, cwd } = await modelHome("responses", model.url);
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
  const client = await host.join(undefined, { experimentalApi: true });
  const threadId = await client.startThread({ cwd });
  await client.turn(threadId, "Hello!");
  const ran = await exec(home, "--resume", threadId, "-m", "another-model", "Again");
  expect(ran).toMatchObject({ code: 0, stdout: "Two\n" });
  expect(model.asked[1]!.body.model).toBe("another-model");
  // Settings reach a thread that is loaded already.
  await exec(home, "--resume", threadId, "--access", "read-only", "Again");
  const { params } = client.told("thread/settings/updated").at(-1)!;
  expect(params.threadSettings).toMatchObject({
    approvalPolicy: "never",
    sandboxPolicy: { type: "readOnly" },
  });
  // The client that follows the thread has seen the turn.
  expect(client.told("turn/completed")).toHaveLength(3);
  const own = await exec(home, "--resume", threadId, "-c", "model=other", "Again");
  expect([own.code, own.stderr]).toEqual([1, expect.stringContaining("already has an active writer")]);
});

it("[CLI-10] checks the answer against the schema", async () => {
  const model = await MockModel.start(say('{"count": 3}'), say('{"count": "three"}'), say("three"));
  const { home, cwd } = await modelHome("responses", model.url);
  const [schema, file] = [join(cwd, "schema.json"), join(cwd, "answer.json")];
  await writeFile(schema, '{"type":"object","properties":{"count":{"type":"integer"}},"required":["count"]}');
  const args = ["--output-schema", schema, "-o", file, "Count"];
  expect(await exec(home, ...args)).toMatchObject({ code: 0, stdout: '{"count": 3}\n' });
  expect(model.asked[0]!.body.text.format.schema.required).toEqual(["count"]);
  expect(await readFile(file, "utf8")).toBe('{"count": 3}');
  for (const problem of ["count", "it is not JSON"]) {
    const { code, stderr } = await exec(home, ...args);
    expect(code).toBe(3);
    expect(stderr).toContain("the answer does not match --output-schema: ");
    expect(stderr).toContain(problem);
    expect(stderr).toContain(`${file} was not written.`);
  }
  expect(await readFile(file, "utf8")).toBe('{"count": 3}');
});

it("[CLI-10] refuses a schema that is none, and a file that cannot be written, before the turn", async () => {
  const model = await MockModel.start(say("Hello!"));
  const { home, cwd } = await modelHome("responses", model.url);
  const schema = join(cwd, "schema.json");
  await writeFile(schema, '"object"');
  const [wrong, nowhere, folder] = await Promise.all([
    exec(home, "--output-schema", schema, "Hi"),
    exec(home, "-o", join(cwd, "no/such/file"), "Hi"),
    exec(home, "-o", cwd, "Hi"),
  ]);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("not a JSON Schema")]);
  expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining("there is no folder")]);
  expect([folder.code, folder.stderr]).toEqual([2, expect.stringContaining("it is a folder")]);
  expect(model.asked).toEqual([]);
  const file = join(cwd, "new.txt");
  expect((await exec(home, "-o", file, "--sandbox", "nonsense", "Hi")).code).toBe(2);
  expect(existsSync(file)).toBe(false);
});
