import { resolve } from "node:path";
import { fault } from "../../errors.ts";
import type { HandlerContext } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";

export function ruleHandlers({ rules }: HandlerContext): MethodHandlers {
  return {
    async "rules/list"({ cwd }, { reply }) {
      reply(await rules.list(cwd == null ? undefined : resolve(cwd)));
    },

    async "rules/revoke"({ prefix }, { reply }) {
      if (!(await rules.revoke(prefix))) throw fault("ruleNotFound", JSON.stringify(prefix));
      reply({});
    },
  };
}
