import { isAbsolute, resolve } from "node:path";
import type { ThreadSettings } from "../../core/life/records.ts";
import { fault } from "../../errors.ts";

export interface AskedPlaces {
  readonly cwd?: string | null | undefined;
  readonly runtimeWorkspaceRoots?: readonly string[] | null | undefined;
  readonly environments?: readonly Environment[] | null | undefined;
}

interface Environment {
  readonly environmentId: string;
  readonly cwd: string;
  readonly runtimeWorkspaceRoots?: readonly string[] | null | undefined;
}

/** The only place that this host has: itself. */
const LOCAL = "local";

/** Whether it matters to a request where the thread is now. */
export function namesPlaces({ cwd, runtimeWorkspaceRoots, environments }: AskedPlaces): boolean {
  return cwd != null || runtimeWorkspaceRoots != null || environments != null;
}

/** Where a thread works: its folder, and what else belongs to its workspace. An environment goes before both. */
export function askedPlaces(
  params: AskedPlaces,
  from: string,
): Partial<Pick<ThreadSettings, "cwd" | "roots">> {
  const environment = askedEnvironment(params.environments);
  const { cwd, runtimeWorkspaceRoots: roots } = environment ?? params;
  for (const root of roots ?? [])
    if (!isAbsolute(root))
      throw fault("invalidParams", "runtimeWorkspaceRoots", `\`${root}\` is not absolute`);
  return {
    ...(cwd != null && { cwd: resolve(from, cwd) }),
    ...(roots != null && { roots: [...new Set(roots)] }),
  };
}

function askedEnvironment(asked: AskedPlaces["environments"]): Environment | undefined {
  const [first, ...more] = asked ?? [];
  if (asked == null || first === undefined) return undefined;
  const unknown = asked.find(({ environmentId }) => environmentId !== LOCAL);
  if (unknown !== undefined) throw fault("unknownEnvironment", unknown.environmentId);
  if (more.length > 0) throw fault("twoEnvironments", LOCAL);
  if (!isAbsolute(first.cwd)) throw fault("environmentCwd", LOCAL, first.cwd);
  return first;
}

/** Refuses a retired way to change permissions, so that no client believes that it took effect. */
export function refusePermissionProfile(method: string, params: object): void {
  if ("permissionProfile" in params) throw fault("noPermissionProfile", method);
}
