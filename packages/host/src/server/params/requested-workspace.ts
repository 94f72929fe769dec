import { isAbsolute, resolve } from "node:path";
import type { ThreadSettings } from "../../core/life/records.ts";
import { fault } from "../../errors.ts";

/** The parameters of a request that name a thread's folders. */
export interface RequestedWorkspace {
  readonly cwd?: string | null | undefined;
  readonly runtimeWorkspaceRoots?: readonly string[] | null | undefined;
  readonly environments?: readonly Environment[] | null | undefined;
}

interface Environment {
  readonly environmentId: string;
  readonly cwd: string;
  readonly runtimeWorkspaceRoots?: readonly string[] | null | undefined;
}

/** The only environment: this host. */
const LOCAL = "local";

/** Whether the request names any folder. */
export function namesWorkspace({ cwd, runtimeWorkspaceRoots, environments }: RequestedWorkspace): boolean {
  return cwd != null || runtimeWorkspaceRoots != null || environments != null;
}

/** The folder and the workspace roots that a request asks for. An environment overrides both parameters. */
export function requestedWorkspace(
  params: RequestedWorkspace,
  from: string,
): Partial<Pick<ThreadSettings, "cwd" | "roots">> {
  const environment = requestedEnvironment(params.environments);
  const { cwd, runtimeWorkspaceRoots: roots } = environment ?? params;
  for (const root of roots ?? [])
    if (!isAbsolute(root))
      throw fault("invalidParams", "runtimeWorkspaceRoots", `\`${root}\` is not absolute`);
  return {
    ...(cwd != null && { cwd: resolve(from, cwd) }),
    ...(roots != null && { roots: [...new Set(roots)] }),
  };
}

/** The folder that a request names, unresolved; null if it names none. */
export function requestedFolder({ cwd, environments }: RequestedWorkspace): string | null {
  return environments?.[0]?.cwd ?? cwd ?? null;
}

function requestedEnvironment(environments: RequestedWorkspace["environments"]): Environment | undefined {
  const [first, ...more] = environments ?? [];
  if (environments == null || first === undefined) return undefined;
  const unknown = environments.find(({ environmentId }) => environmentId !== LOCAL);
  if (unknown !== undefined) throw fault("unknownEnvironment", unknown.environmentId);
  if (more.length > 0) throw fault("twoEnvironments", LOCAL);
  if (!isAbsolute(first.cwd)) throw fault("environmentCwd", LOCAL, first.cwd);
  return first;
}

/** Refuses a retired permissions parameter, so that no client believes it took effect. */
export function refusePermissionProfile(method: string, params: object): void {
  if ("permissionProfile" in params) throw fault("noPermissionProfile", method);
}
