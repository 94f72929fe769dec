import type { TurnFiles, TurnFilesPorts } from "./turn-files.ts";

/** The part of `TurnFiles` that the rest of the host uses. */
export type WorkspaceChanges = Pick<TurnFiles, "before" | "diff" | "restore" | "diffToRemote">;

/** Loads `TurnFiles` when a turn is first about to change files. */
export function lazyTurnFiles(ports: TurnFilesPorts): WorkspaceChanges {
  let loading: Promise<TurnFiles> | undefined;
  const load = (): Promise<TurnFiles> => {
    loading ??= import("./turn-files.ts").then(({ TurnFiles }) => new TurnFiles(ports));
    return loading;
  };
  return {
    before: async (...args) => (await load()).before(...args),
    diff: async (...args) => (await load()).diff(...args),
    restore: async (...args) => (await load()).restore(...args),
    diffToRemote: async (...args) => (await load()).diffToRemote(...args),
  };
}
