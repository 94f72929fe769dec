import { resolve } from "node:path";
import type { FunctionCallOutputContentItem, ThreadItem } from "@bobbin/protocol";
import type { ThreadState } from "../../core/state.ts";
import type { ReadableFiles } from "../../platform/platform.ts";
import { readMedia } from "../media.ts";
import { type Invocation, refusal, type Tool } from "../tool.ts";

const path = { type: "string", description: "Where the picture is, on this machine." };
const detail = {
  type: "string",
  enum: ["high", "original"],
  description: "How much of it you see: high (if left out), or original for its exact size.",
};
const PLAIN = { type: "object", properties: { path }, required: ["path"], additionalProperties: false };
const WITH_DETAIL = { ...PLAIN, properties: { path, detail } };

/** Models that accept images in their original size. */
const ORIGINAL_SIZE_MODELS = /^gpt-(5\.[5-9]|5\.\d\d|[6-9]|\d\d)/;

interface Arguments {
  readonly path: string;
  readonly detail?: "high" | "original";
}

/**
 * Makes the tool `view_image` for a model: it shows the model an image file. `filesOf`: the files that the model may
 * read.
 */
export function viewImage(
  filesOf: (thread: ThreadState) => Pick<ReadableFiles, "openRead">,
): (model: string | undefined) => Tool {
  const plain = viewImageTool(filesOf, false);
  const original = viewImageTool(filesOf, true);
  return (model = "") => (ORIGINAL_SIZE_MODELS.test(model) ? original : plain);
}

function viewImageTool(
  filesOf: (thread: ThreadState) => Pick<ReadableFiles, "openRead">,
  hasOriginal: boolean,
): Tool {
  return {
    name: "view_image",
    namespace: null,
    // Every model may send `detail`: an earlier model of the thread may have been offered it.
    parameters: WITH_DETAIL,
    spec: {
      kind: "function",
      name: "view_image",
      namespace: null,
      description:
        "Shows you a picture that is a file on this machine. For what has to be seen to be judged.",
      parameters: hasOriginal ? WITH_DETAIL : PLAIN,
      strict: false,
    },
    begin: () => ({ kind: "dispatch", again: true }),
    async perform(invocation) {
      const files = filesOf(invocation.thread);
      const read = await readMedia(pathOf(invocation), "image", files);
      if ("problem" in read) return refusal(`${pathOf(invocation)} cannot be shown: ${read.problem}`);
      const { detail: asked } = invocation.args as Arguments;
      const given = asked !== undefined && { detail: hasOriginal ? asked : "high" };
      const shown = { type: "input_image", image_url: read.url, ...given } as FunctionCallOutputContentItem;
      return { kind: "settle", output: [shown], success: true, item: item(invocation) };
    },
  };
}

function pathOf({ thread, args }: Invocation): string {
  return resolve(thread.settings.cwd, (args as Arguments).path);
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
