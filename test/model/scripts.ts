import type { ModelRequest } from "../../packages/host/src/model/model.ts";
import type { ModelScripts } from "../simulation/fake-model.ts";
import type { Random } from "../simulation/random.ts";
import { type Mood, SLOW_MS } from "./reference-thread.ts";

/** The first word of the last input says what the model does; what it says shows what it was given. */
export const byMood: ModelScripts = (request, random) => {
  const input = lastInput(request);
  const text = `${input} under ${request.load.developerInstructions ?? "nothing"}`;
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
    case "fail":
      return {
        steps: [
          { do: "mumble", pieces },
          { do: "fail", message: "out of words" },
        ],
      };
  }
};

function lastInput({ items }: ModelRequest): string {
  const last = items.findLast((item) => item.type === "userMessage");
  const part = last?.type === "userMessage" ? last.content[0] : undefined;
  return part?.type === "text" ? part.text : "";
}

function inPieces(text: string, random: Random): readonly string[] {
  const cut = random.between(1, text.length - 1);
  return [text.slice(0, cut), text.slice(cut)];
}
