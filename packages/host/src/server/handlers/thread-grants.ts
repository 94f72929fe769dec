import { fault } from "../../errors.ts";
import { grantKey, listGrants } from "../../tool/consent/list-grants.ts";
import { accessOf, type HandlerContext } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";

/** Handlers for the grants of a thread, loaded or not. */
export function threadGrantHandlers({ registry, platform }: HandlerContext): MethodHandlers {
  return {
    async "thread/grants/list"({ threadId }, { connection, reply }) {
      const data = await registry.read(threadId, accessOf(connection), async (_journal, state) =>
        listGrants(state),
      );
      reply({ data });
    },

    async "thread/grants/revoke"({ threadId, grantId }, { connection, reply }) {
      const access = accessOf(connection);
      const key = await registry.read(threadId, access, async (_journal, state) => grantKey(state, grantId));
      if (key === undefined) throw fault("grantNotFound", grantId);
      const command = { kind: "revokeGrant", at: platform.clock.now(), grantId, key } as const;
      await registry.edit(threadId, access, command, () => reply({}));
    },
  };
}
