import type { CollabAgentStatus, ThreadItem } from "@bobbin/protocol";
import { Markdown } from "../../markdown/markdown.tsx";
import { PeopleIcon } from "../../parts/icons.tsx";
import { threadHref } from "../../route.ts";
import { FoldedItem, type ItemState } from "./folded-item.tsx";

type Helper = Extract<ThreadItem, { type: "collabAgentToolCall" }>;

const STATES: Readonly<Record<Helper["status"], ItemState>> = {
  inProgress: "running",
  completed: "done",
  failed: "failed",
  interrupted: "declined",
};
const DEEDS: Readonly<Record<Helper["tool"], string>> = {
  spawnAgent: "Start a helper",
  sendInput: "Write to a helper",
  resumeAgent: "Resume a helper",
  wait: "Wait for helpers",
  closeAgent: "End a helper",
  sendMessage: "Write to a helper",
  followupTask: "Give a helper another task",
  interruptAgent: "Interrupt a helper",
  listAgents: "List helpers",
};

const HELPER_STATES: Readonly<Record<CollabAgentStatus, string>> = {
  pendingInit: "starts",
  running: "works",
  interrupted: "was interrupted",
  completed: "is done",
  errored: "failed",
  shutdown: "was ended",
  notFound: "does not exist",
};

/** A call by which the model controls its helpers. Each helper is a thread that can be opened. */
export function HelperCallItem({ item }: { item: Helper }) {
  const { tool, status, prompt, receiverThreadIds, agentsStates } = item;
  return (
    <FoldedItem icon={<PeopleIcon />} title={DEEDS[tool]} state={STATES[status]} isOpen={status === "failed"}>
      {prompt ? <Markdown text={prompt} /> : null}
      <ul class="helpers">
        {receiverThreadIds.map((threadId) => {
          const state = agentsStates[threadId];
          return (
            <li key={threadId}>
              <a href={threadHref(threadId)}>Helper {threadId.slice(-6)}</a>{" "}
              <span class="dim">{state ? HELPER_STATES[state.status] : ""}</span>
              {state?.message ? <Markdown text={state.message} /> : null}
            </li>
          );
        })}
      </ul>
    </FoldedItem>
  );
}
