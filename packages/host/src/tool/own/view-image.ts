import { resolve } from "node:path";
import type { FunctionCallOutputContentItem, ThreadItem } from "@bobbin/protocol";
import type { ThreadState } from "../../core/state.ts";
import type { ReadableFiles } from "../../platform/platform.ts";
import { readMedia } from "../media.ts";
import { type Invocation, refusal, type Tool } from "../tool.ts";

const parameters = {
  type: "object",
  properties: { path: { type: "string", description: "Where the picture is, on this machine." } },
  required: ["path"],
  additionalProperties: false,
};

/** The tool `view_image`: shows an image file to the model. `filesOf`: the files that the model may read. */
export function viewImage(filesOf: (thread: ThreadState) => Pick<ReadableFiles, "openRead">): Tool {
  return {
    name: "view_image",
    namespace: null,
    parameters,
    spec: {
      kind: "function",
      name: "view_image",
      namespace: null,
      description:
        "Shows you a picture that is a file on this machine. For what has to be seen to be judged.",
      parameters,
      strict: false,
    },
    begin: () => ({ kind: "dispatch", again: true }),
    async perform(invocation) {
      const files = filesOf(invocation.thread);
      const read = await readMedia(pathOf(invocation), "image", files);
      if ("problem" in read) return refusal(`${pathOf(invocation)} cannot be shown: ${read.problem}`);
      const shown = { type: "input_image", image_url: read.url } as FunctionCallOutputContentItem;
      return { kind: "settle", output: [shown], success: true, item: item(invocation) };
    },
  };
}

function pathOf({ thread, args }: Invocation): string {
  return resolve(thread.settings.cwd, (args as { path: string }).path);
}

/** The item of an image that the model has seen. An image that could not be read has none. */
function item(invocation: Invocation): ThreadItem {
  return {
    type: "imageView",
    id: invocation.call.callId,
    path: pathOf(invocation),
    startedAtMs: invocation.startedAt,
    completedAtMs: invocation.now,
  };
}
