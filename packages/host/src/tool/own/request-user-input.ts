import type { ToolRequestUserInputQuestion, ToolRequestUserInputResponse } from "@bobbin/protocol";
import { isPlanning } from "../../core/life/collaboration-modes.ts";
import type { ThreadState } from "../../core/state.ts";
import { refusal, type Tool } from "../tool.ts";

const parameters = {
  type: "object",
  properties: {
    questions: {
      type: "array",
      description: "The questions, one if that will do.",
      minItems: 1,
      maxItems: 3,
      items: {
        type: "object",
        properties: {
          id: { type: "string", description: "Names the answer, in snake_case." },
          header: { type: "string", description: "A heading of at most 12 characters." },
          question: { type: "string", description: "The question, in one sentence." },
          options: {
            type: "array",
            description:
              'Two or three answers that exclude each other, the one that you recommend first and marked "(Recommended)". The user can always answer something else.',
            minItems: 1,
            items: {
              type: "object",
              properties: {
                label: { type: "string", description: "The answer, in one to five words." },
                description: { type: "string", description: "What follows from it, in one sentence." },
              },
              required: ["label", "description"],
              additionalProperties: false,
            },
          },
        },
        required: ["id", "header", "question", "options"],
        additionalProperties: false,
      },
    },
  },
  required: ["questions"],
  additionalProperties: false,
};

/**
 * The schema for validating arguments. It allows more fields than the schema that models get, because models know
 * further fields from their training.
 */
const ACCEPTED_PARAMETERS = {
  ...parameters,
  properties: {
    questions: {
      ...parameters.properties.questions,
      items: {
        ...parameters.properties.questions.items,
        properties: { ...parameters.properties.questions.items.properties, isSecret: { type: "boolean" } },
        additionalProperties: true,
      },
    },
  },
  additionalProperties: true,
};

interface Questions {
  readonly questions: readonly (Omit<ToolRequestUserInputQuestion, "isOther" | "isSecret"> & {
    readonly isSecret?: boolean;
  })[];
}

/**
 * The tool `request_user_input`: asks the user and waits for the answer. `mayAsk`: whether questions are allowed
 * outside of Plan mode.
 */
export const requestUserInput = (mayAsk: (thread: ThreadState) => boolean): Tool => ({
  name: "request_user_input",
  namespace: null,
  parameters: ACCEPTED_PARAMETERS,
  spec: {
    kind: "function",
    name: "request_user_input",
    namespace: null,
    description:
      "Asks the user one to three short questions and waits for the answers. For decisions that you cannot take by yourself.",
    parameters,
    strict: false,
  },
  begin({ thread, turnId, call, args }) {
    // The tool is listed in every mode, so that a change of the mode does not change the tool list.
    if (!isPlanning(thread.settings) && !mayAsk(thread))
      return refusal("request_user_input is unavailable in Default mode");
    const { questions } = args as Questions;
    return {
      kind: "ask",
      ask: {
        method: "item/tool/requestUserInput",
        params: {
          threadId: thread.facts.id,
          turnId,
          itemId: call.callId,
          questions: questions.map(({ id, header, question, options, isSecret = false }) => ({
            id,
            header,
            question,
            options,
            isOther: true,
            isSecret,
          })),
          // Clients must not answer automatically, because the model waits for the user.
          isBlocking: true,
          autoResolutionMs: null,
        },
      },
    };
  },
  heard(_invocation, _question, answer) {
    switch (answer.kind) {
      case "result": {
        const { answers } = answer.result as ToolRequestUserInputResponse;
        return { kind: "settle", output: JSON.stringify({ answers }), success: true };
      }
      case "failed":
        return refusal(`The user could not be asked: ${answer.message}`);
      case "expired":
        return refusal("The user did not answer in time. Go on with what you think best, and say so.");
      case "denied":
      case "cleared":
        return refusal("The question was withdrawn before it was answered.");
    }
  },
});
