import { EVENT_TOOL } from "../../core/rap/tool-server-events.ts";
import { refusal, type Tool } from "../tool.ts";

/**
 * Events of subscriptions appear to the model as outputs of this tool. The tool is not offered, and refuses calls of
 * the model.
 */
export const eventTool: Tool = {
  name: EVENT_TOOL,
  namespace: null,
  spec: null,
  begin: () => refusal("Error: Events come by themselves: they cannot be asked for by a call of this."),
};
