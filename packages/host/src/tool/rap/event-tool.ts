import { EVENT_TOOL } from "../../core/rap/events.ts";
import { refusal, type Tool } from "../tool.ts";

/** What the model is shown events by can not be called; this answers a model that tries. */
export const eventTool: Tool = {
  name: EVENT_TOOL,
  namespace: null,
  spec: null,
  begin: () => refusal("Error: Events come by themselves: they can not be asked for by a call of this."),
};
