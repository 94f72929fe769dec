import { type Fault, fault } from "../../errors.ts";
import type { ShownText } from "../decide.ts";
import { lateCancelled } from "../rap/decide.ts";
import type { ThreadRecord } from "../records.ts";
import { clearDirectQuestions } from "../requests/mcp-server-questions.ts";
import type { ThreadState } from "../state.ts";
import { endTerminals } from "../terminals/decide.ts";
import { endLost, lost } from "../turn/dead-host-recovery.ts";
import { endTurn } from "../turn/end-turn.ts";
import type { LifeCommand } from "./commands.ts";
import { isClosingDue } from "./due-tool-server-notices.ts";
import { injected } from "./inject-items.ts";
import { settingsChanged } from "./settings-change-record.ts";

/** Decides commands about a thread's life and settings. */
export function decideLife(
  state: ThreadState,
  command: LifeCommand,
  shown: ShownText,
): readonly ThreadRecord[] | Fault {
  const { at } = command;
  switch (command.kind) {
    case "changeSettings":
      return settingsChanged(state, at, command.changes);
    case "changeLoadSettings":
      return [{ type: "loadSettingsChanged", at, changes: command.changes }];
    case "revokeGrant": {
      const { grantId, key } = command;
      return state.grants.includes(key)
        ? [{ type: "grantRevoked", at, grantId, key }]
        : fault("grantNotFound", grantId);
    }
    case "rename":
      return [{ type: "renamed", at, name: command.name }];
    case "changeGitInfo": {
      const before = state.gitInfo ?? { sha: null, branch: null, originUrl: null };
      const gitInfo = { ...before, ...command.changes };
      const isNothing = Object.values(gitInfo).every((value) => value === null);
      return [{ type: "gitInfoChanged", at, gitInfo: isNothing ? null : gitInfo }];
    }
    case "changeSection":
      return [{ type: "sectionChanged", at, sectionId: command.sectionId, position: command.position }];
    case "dropTurns":
      if (state.turn !== null && command.by === "rollback") return fault("turnInProgress", state.turn.id);
      if (((state.turn ?? state.lastTurn)?.id ?? null) !== command.lastTurnId) return fault("historyMoved");
      return [
        ...endTurn(state, at, "interrupted", shown),
        {
          type: "turnsDropped",
          at,
          keepThrough: command.keepThrough,
          dropped: command.dropped,
          by: command.by,
        },
      ];
    case "injectItems":
      return [injected(state, at, command.items)];
    case "open": {
      const docs = JSON.stringify(command.docs) === JSON.stringify(state.docs) ? null : command.docs;
      // The turn was running when its host died. No host continues it, so it ends.
      return [
        ...endLost(state, at, shown),
        ...endTerminals(state, at, shown),
        { type: "opened", at, epoch: state.epoch + 1, load: command.load, docs },
        ...settingsChanged(state, at, command.changes),
      ];
    }
    case "adopt":
      return [
        { type: "adopted", at, epoch: state.epoch + 1, status: state.status },
        ...lost(state, at, shown),
        ...endTerminals(state, at, shown),
      ];
    case "notifyToolServers":
      return notices(state, at);
    case "close":
      // The thread is closed in the journal already: a host died after this commit, before it had finished the close.
      if (state.status.type === "notLoaded") return [];
      return [
        ...(command.reason === "lost"
          ? endLost(state, at, shown)
          : [...clearDirectQuestions(state, at), ...endTurn(state, at, "interrupted", shown)]),
        ...endTerminals(state, at, shown),
        ...lateCancelled(state, at),
        { type: "closed", at, reason: command.reason },
      ];
  }
}

/** The records of due notices to tool servers. When the records are committed, the notice sender sends the notices. */
function notices(state: ThreadState, at: number): readonly ThreadRecord[] {
  const { cancels = [] } = state.rap;
  return [
    ...cancels.map((callId): ThreadRecord => ({ type: "cancelNotified", at, callId })),
    ...(isClosingDue(state) ? [{ type: "notified", at } as const] : []),
  ];
}
