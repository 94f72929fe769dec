import { refusal, type Tool } from "../tool.ts";

/** What the model sees events by. It can not be called. */
export const EVENT_TOOL_NAME = "receive_event__injected";

/** Answers a model that tries. */
export const eventTool: Tool = {
  name: EVENT_TOOL_NAME,
  namespace: null,
  spec: null,
  begin: () => refusal("Error: Events come by themselves: they can not be asked for by a call of this."),
};
