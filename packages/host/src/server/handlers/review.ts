import type { ReviewTarget, Thread, ThreadItem, Turn } from "@bobbin/protocol";
import type { Command } from "../../core/commands.ts";
import { threadView } from "../../core/life/thread-view.ts";
import { turnStarted } from "../../core/turn/turn-view.ts";
import { fault } from "../../errors.ts";
import type { Follower } from "../../thread/thread-loader.ts";
import { accessOf, type HandlerContext } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";
import type { Fork } from "./thread-fork.ts";

/** Handler of `review/start`: a review runs in a turn of the thread, or in an ordinary turn of a fork. */
export function reviewHandlers(context: HandlerContext, fork: Fork): MethodHandlers {
  const { registry, platform, idle } = context;
  return {
    async "review/start"({ threadId, target, delivery }, { connection, reply }) {
      const { label, prompt } = reviewOf(target);
      const at = platform.clock.now();
      const turnId = platform.ids.uuid();
      if (delivery !== "detached") {
        const actor = await registry.find(threadId, accessOf(connection));
        const command = { kind: "startReview", at, turnId, label, prompt } as const;
        return actor.submit(command, (state) => {
          context.warnings.beforeTurn(actor, state);
          reply({ turn: turnView(turnId, label), reviewThreadId: actor.id });
        });
      }
      let thread!: Thread;
      const follower: Follower = {
        async join(actor, state) {
          thread = threadView(state, actor.journal.place);
          idle.follow(actor, connection);
        },
        joined: (actor) => idle.refused(actor, connection.unloadDelayMs),
      };
      const actor = await fork(connection, { threadId }, follower, async (settings) => settings);
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
      await actor.submit(command, (state) => {
        context.warnings.beforeTurn(actor, state);
        reply({ turn: turnView(turnId, text), reviewThreadId: actor.id });
        registry.announce(actor, "thread/started", { thread });
      });
    },
  };
}

/** Instructions for a review in an ordinary turn. */
const IN_WORDS =
  "Review as a stranger to this work would: report each defect that the change brings in, with its file and lines, the weightiest first, and nothing that is a matter of taste. Change nothing. If you cannot see the change with the tools that you have, say so, and do not guess.";

/** The turn in the reply, before the turn begins. */
function turnView(turnId: string, text: string): Turn {
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

/** The title of a review, and the prompt for the reviewer. */
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
