import { type Fault, fault } from "../../errors.ts";
import type { LifeCommand } from "../commands.ts";
import type { ShownText } from "../decide.ts";
import { lateCancelled } from "../rap/decide.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { endTerminals } from "../terminals/decide.ts";
import { endTurn } from "../turn/ending.ts";
import { endLost, lost } from "../turn/restart.ts";
import { injected } from "./injected.ts";
import { settingsChanged } from "./settings.ts";

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
      // A turn that runs in the journal runs nowhere else: the host that ran it is gone.
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
    case "close":
      // A host that died between this commit and giving the thread back is followed by one that tries again.
      if (state.status.type === "notLoaded") return [];
      return [
        ...(command.reason === "lost" ? endLost(state, at, shown) : endTurn(state, at, "interrupted", shown)),
        ...endTerminals(state, at, shown),
        ...lateCancelled(state, at),
        { type: "closed", at, reason: command.reason },
      ];
  }
}
