// Approvals and questions of a real host, answered by callbacks of @bobbin/client, and refused without them.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Answers, QuestionContext } from "@bobbin/client";
import { expect, it } from "vitest";
import { Stage } from "../support/client-stage.ts";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { APPROVED, calls, own } from "../support/mcp-call-stage.ts";
import { MockModel, type Reply } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { callTool, outputOf, run, say } from "../support/model-replies.ts";

const TOOL = {
  type: "function" as const,
  name: "lookup",
  description: "Looks an order up.",
  inputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
};
const QUESTION = {
  id: "drink",
  header: "Drink",
  question: "Tea or coffee?",
  options: [{ label: "Tea", description: "Hot." }],
};

interface Kind {
  /** What the model does before it says that it is done. */
  readonly call: Reply;
  /** Answers, and notes what it was asked with. */
  answer(note: (context: QuestionContext, params: { readonly threadId: string }) => void): Answers;
  /** What the model gets, with the answer and without. */
  readonly answered: RegExp;
  readonly refused: RegExp;
}

const outside = await freshFolder("outside");
const KINDS: Readonly<Record<keyof Omit<Answers, "tokenRefresh">, Kind>> = {
  command: {
    call: run({ cmd: "echo so be it", sandbox_permissions: "require_escalated", justification: "May I?" }),
    answer: (note) => ({
      command(params, context) {
        note(context, params);
        return "accept";
      },
    }),
    answered: /so be it/,
    refused: /rejected|declined|not run/i,
  },
  fileChange: {
    call: callTool("apply_patch", { input: "*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch" }),
    answer: (note) => ({
      fileChange(params, context) {
        note(context, params);
        return "accept";
      },
    }),
    answered: /Success/,
    refused: /rejected|declined|not applied/i,
  },
  permissions: {
    call: callTool("request_permissions", {
      reason: "To write",
      permissions: { file_system: { write: [outside] } },
    }),
    answer: (note) => ({
      permissions(params, context) {
        note(context, params);
        return { permissions: { fileSystem: { read: null, write: [outside] } }, scope: "turn" };
      },
    }),
    answered: new RegExp(outside),
    refused: /no permissions|declined|not granted/i,
  },
  question: {
    call: callTool("request_user_input", { questions: [QUESTION] }),
    answer: (note) => ({
      question(params, context) {
        note(context, params);
        return Object.fromEntries(params.questions.map(({ id }) => [id, ["Tea, please"]]));
      },
    }),
    answered: /Tea, please/,
    refused: /^(?!.*Tea, please)/s,
  },
  elicitation: {
    call: calls(["ask"]),
    answer: (note) => ({
      elicitation(params, context) {
        note(context, params as { threadId: string });
        return { action: "accept", content: { color: "red" }, _meta: null };
      },
    }),
    answered: /red/,
    refused: /decline|cancel/,
  },
  toolCall: {
    call: callTool("lookup", { id: "A-1" }),
    answer: (note) => ({
      toolCall(params, context) {
        note(context, params);
        return { contentItems: [{ type: "inputText", text: "It is on its way." }], success: true };
      },
    }),
    answered: /on its way/,
    refused: /^(?!.*on its way)/s,
  },
};

it.each(Object.entries(KINDS))(
  "[SDK-6] a question of the kind %s is answered by its callback, and refused by a client without one",
  async (name, { call, answer, answered, refused }) => {
    const model = await MockModel.start(call, say("done"), call, say("done"));
    const top = ['sandbox_mode = "read-only"', 'approval_policy = "on-request"'];
    const provider = name === "elicitation" ? [own(APPROVED)] : [];
    const { home, cwd } = await modelHome("responses", model.url, { top, provider });
    const stage = await Stage.start(home);
    /** The output that the model gets for its call. */
    const ask = async (answers: Answers) => {
      const thread = await (await stage.connect({ answers })).startThread({ cwd, dynamicTools: [TOOL] });
      const { status, text } = await thread.run("go");
      expect([status, text]).toEqual(["completed", "done"]);
      expect(thread.state.requests).toEqual([]);
      return { output: JSON.stringify(outputOf(model, model.asked.length - 1)), threadId: thread.id };
    };
    const without = await ask({});
    expect(without.output).toMatch(refused);
    expect(without.output).not.toMatch(answered);
    if (name === "fileChange") expect(existsSync(join(cwd, "a.txt"))).toBe(false);

    const asked: { readonly context: QuestionContext; readonly threadId: string }[] = [];
    const { output, threadId } = await ask(
      answer((context, params) => asked.push({ context, threadId: params.threadId })),
    );
    expect(output).toMatch(answered);
    expect(asked.map((one) => one.threadId)).toEqual([threadId]);
    await eventually(() => asked[0]!.context.signal.aborted, "the signal aborts when the answer has arrived");
    if (name === "fileChange") expect(existsSync(join(cwd, "a.txt"))).toBe(true);
  },
);
