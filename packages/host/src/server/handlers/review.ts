import type { ReviewTarget, ThreadItem, Turn } from "@bobbin/protocol";
import type { Command } from "../../core/commands.ts";
import { threadView } from "../../core/life/views.ts";
import { turnStarted } from "../../core/turn/views.ts";
import { fault } from "../../errors.ts";
import type { Handlers } from "../call.ts";
import { accessOf, type HandlerContext } from "./context.ts";
import type { Fork } from "./thread-fork.ts";

/** Work is looked at as a stranger would: in a turn of the thread, or in an ordinary one of a fork of it. */
export function reviewHandlers(context: HandlerContext, fork: Fork): Handlers {
  const { registry, platform, idle } = context;
  return {
    async "review/start"({ threadId, target, delivery }, { connection, reply }) {
      const { label, prompt } = reviewOf(target);
      const at = platform.clock.now();
      const turnId = platform.ids.uuid();
      if (delivery !== "detached") {
        const actor = await registry.find(threadId, accessOf(connection));
        const command = { kind: "startReview", at, turnId, label, prompt } as const;
        return actor.submit(command, () => reply({ turn: asked(turnId, label), reviewThreadId: actor.id }));
      }
      await fork(
        connection,
        { threadId },
        async (actor) => {
          const thread = threadView(await actor.peek(), actor.journal.place);
          idle.follow(actor, connection);
          const text = `${prompt}\n\n${IN_WORDS}`;
          const command: Command = {
            kind: "startTurn",
            at,
            turnId,
            userItemId: platform.ids.uuid(),
            clientUserMessageId: null,
            input: [{ type: "text", text, text_elements: [] }],
            outputSchema: null,
            changes: {},
          };
          await actor.submit(command, () => {
            reply({ turn: asked(turnId, text), reviewThreadId: actor.id });
            registry.announce(actor, "thread/started", { thread });
          });
        },
        async (settings) => settings,
      );
    },
  };
}

/** What a model has to know that reviews in an ordinary turn. */
const IN_WORDS =
  "Review as a stranger to this work would: report each defect that the change brings in, with its file and lines, the weightiest first, and nothing that is a matter of taste. Change nothing. If you can not see the change with the tools that you have, say so, and do not guess.";

/** The turn as it is told before it begins. */
function asked(turnId: string, text: string): Turn {
  const message: ThreadItem = {
    type: "userMessage",
    id: turnId,
    clientId: null,
    content: [{ type: "text", text, text_elements: [] }],
    startedAtMs: null,
    completedAtMs: null,
  };
  return { ...turnStarted(turnId, null), items: [message] };
}

/** What people call it, and what the reviewer is asked. */
function reviewOf(target: ReviewTarget): { readonly label: string; readonly prompt: string } {
  const findings = "Give your findings, the weightiest first.";
  switch (target.type) {
    case "uncommittedChanges":
      return {
        label: "current changes",
        prompt: `Review the changes in the working tree that are not committed: staged, unstaged and new files. ${findings}`,
      };
    case "baseBranch": {
      const branch = given(target.branch, "branch");
      return {
        label: `changes against '${branch}'`,
        prompt: `Review what would be merged into the branch '${branch}': the difference from where the current branch left it (\`git merge-base HEAD ${branch}\`) to now. ${findings}`,
      };
    }
    case "commit": {
      const sha = given(target.sha, "sha");
      const title = target.title?.trim() || undefined;
      return {
        label: `commit ${sha.slice(0, 7)}${title === undefined ? "" : `: ${title}`}`,
        prompt: `Review what the commit ${sha}${title === undefined ? "" : ` ("${title}")`} changes. ${findings}`,
      };
    }
    case "custom": {
      const instructions = given(target.instructions, "instructions");
      return { label: instructions, prompt: instructions };
    }
  }
}

function given(text: string, name: string): string {
  const trimmed = text.trim();
  if (trimmed === "") throw fault("reviewTargetEmpty", name);
  return trimmed;
}
