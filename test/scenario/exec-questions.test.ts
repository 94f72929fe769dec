// What `bobbin exec` decides in the user's place, and how it says so.
import { expect, it } from "vitest";
import { MockModel, responses } from "../support/mock-model.ts";
import { answer, call, outputs, rapHome, say } from "../support/rap-stage.ts";
import { type Run, runBobbin } from "../support/run-bobbin.ts";
import { FakeToolServer, ok, postBack } from "../support/tool-server.ts";

const ANSWERS = "/user_choice_response/token";

interface Stage {
  readonly model: MockModel;
  readonly server: FakeToolServer;
  exec(...flags: readonly string[]): Promise<Run>;
}

/** A model that calls a tool and then ends its turn. */
async function stage(tool: string, args = "{}"): Promise<Stage> {
  const server = await FakeToolServer.start({ deploy: {}, wipe: { annotations: { destructive: true } } });
  server.on.set(ANSWERS, ok);
  const model = await MockModel.start(call(responses.call(tool, args, "call_1")), say("Done"));
  const { home } = await rapHome(model.url, { servers: { desk: server } });
  const exec = (...flags: readonly string[]) =>
    runBobbin(["exec", ...flags, "Go on"], { env: { BOBBIN_HOME: home } });
  return { model, server, exec };
}

const events = ({ stdout }: Run) =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ type }) => type === "question.decided");

it("[CLI-4] declines calls that need approval, and says which flag approves them", async () => {
  const asText = await stage("wipe");
  const ran = await asText.exec();
  expect(ran).toMatchObject({ code: 0, stdout: "Done\n" });
  expect(ran.stderr).toContain(
    'Allow desk to run the tool "wipe"? → declined\n  With --approve it is approved.\n',
  );
  expect(outputs(asText.model, 1)).toEqual([
    expect.stringContaining("no client could ask the user about it"),
  ]);
  expect(asText.server.heard.filter(({ path }) => path === "/invoke")).toEqual([]);

  const asJson = await stage("wipe");
  expect(events(await asJson.exec("--json"))).toEqual([
    {
      type: "question.decided",
      kind: "approval",
      question: 'Allow desk to run the tool "wipe"?',
      answer: "declined",
      change: "With --approve it is approved.",
    },
  ]);
});

it("[CLI-4] approves them with --approve, and says so", async () => {
  const { model, server, exec } = await stage("wipe");
  const ended = exec("--approve");
  await answer(await server.next("/invoke"), "wiped");
  const ran = await ended;
  expect(ran.stderr).toContain(
    'Allow desk to run the tool "wipe"? → approved\n  Without --approve it is declined.\n',
  );
  expect(outputs(model, 1)).toEqual(["wiped"]);
});

it("[CLI-4] leaves a tool server's question to its default, or takes the first option, and says so", async () => {
  for (const [flags, index, said] of [
    [[], 2, 'Where to? → not answered\n  With --answer first it is "Production".\n'],
    [
      ["--answer", "first"],
      0,
      "Where to? → Production\n  Without --answer first it is not answered, and the default applies.\n",
    ],
  ] as const) {
    const { server, exec } = await stage("deploy");
    const ended = exec(...flags);
    const heard = await server.next("/invoke");
    await postBack(heard.body.callback_url, {
      type: "user_choice",
      group_id: heard.body.group_id,
      id: heard.body.id,
      prompt: "Where to?",
      choices: ["Production", "Staging", "Nowhere"],
      default: 2,
      response_url: `${server.url}${ANSWERS}`,
    });
    expect((await server.next(ANSWERS)).body).toMatchObject({ selected: index });
    await answer(heard, "deployed");
    expect((await ended).stderr).toContain(said);
  }
});

it("[CLI-4] lets the model decide what it asks, or takes the first option, and says so", async () => {
  const options = [
    { label: "Red (Recommended)", description: "Warm." },
    { label: "Blue", description: "Cold." },
  ];
  const args = JSON.stringify({
    questions: [
      { id: "color", header: "Color", question: "Which color?", options },
      { id: "size", header: "Size", question: "Which size?", options: [{ label: "Small", description: "" }] },
    ],
  });
  const undecided = await stage("request_user_input", args);
  const { stderr } = await undecided.exec();
  expect(stderr).toContain(
    'Which color? → not answered\n  With --answer first it is "Red (Recommended)".\nWhich size? → not answered\n',
  );
  expect(outputs(undecided.model, 1)).toEqual([expect.stringContaining("nobody is there to answer")]);

  const first = await stage("request_user_input", args);
  expect(events(await first.exec("--json", "--answer", "first"))).toMatchObject([
    { kind: "question", question: "Which color?", answer: "Red (Recommended)" },
    { kind: "question", question: "Which size?", answer: "Small" },
  ]);
  expect(JSON.parse(outputs(first.model, 1)[0])).toEqual({
    answers: { color: { answers: ["Red (Recommended)"] }, size: { answers: ["Small"] } },
  });
});

it("[CLI-4] shows where an authorization is given", async () => {
  const { server, exec } = await stage("deploy");
  const ended = exec();
  const heard = await server.next("/invoke");
  const auth_url = "https://login.example/authorize?code=1";
  const { group_id, id, callback_url } = heard.body;
  expect(await postBack(callback_url, { type: "oauth", group_id, id, auth_url })).toBe(200);
  await answer(heard, "deployed");
  expect((await ended).stderr).toContain(
    `desk needs your authorization to go on with deploy.\n  To authorize it, open ${auth_url}\n`,
  );
});
