import type { ModelRequest } from "../../packages/host/src/model/model.ts";
import type { ModelScripts } from "../simulation/fake-model.ts";
import type { Random } from "../simulation/random.ts";
import { conversation, textOf } from "./conversation.ts";
import { type Mood, SLOW_MS } from "./reference-thread.ts";

const QUESTION = {
  questions: [{ id: "q", header: "H", question: "Q?", options: [{ label: "A", description: "d" }] }],
};

/** The first word of the last input decides what the model does. Its answer shows what it was sent. */
export const byMood: ModelScripts = (request, random) => {
  const input = lastInput(request);
  const text = `${input} under ${developerInstructions(request)}`;
  const pieces = inPieces(text, random);
  switch (input.split(" ")[0] as Mood) {
    case "quick":
      return { steps: [{ do: "say", pieces }] };
    case "slow":
      return {
        steps: [
          { do: "pause", ms: SLOW_MS },
          { do: "say", pieces },
        ],
      };
    case "hang":
      return { steps: [{ do: "mumble", pieces }, { do: "hang" }] };
    case "ask":
      // In one piece, so that the token usage is reported before the user is asked.
      return conversation(request.context).called.length > 0
        ? { steps: [{ do: "say", pieces }] }
        : { steps: [{ do: "call", name: "request_user_input", args: QUESTION }], atOnce: true };
    case "fail":
      return {
        steps: [
          { do: "mumble", pieces },
          { do: "fail", message: "out of words" },
        ],
      };
  }
};

function lastInput({ context }: ModelRequest): string {
  return textOf(context.findLast((item) => item.type === "message" && item.role === "user"));
}

/** The developer instructions come first. If there are none, the environment does. */
function developerInstructions({ context }: ModelRequest): string {
  const first = textOf(context[0]);
  return first.startsWith("<environment_context>") ? "nothing" : first;
}

function inPieces(text: string, random: Random): readonly string[] {
  const cut = random.between(1, text.length - 1);
  return [text.slice(0, cut), text.slice(cut)];
}
