/**
 * Folders of a workspace that decide which programs the user or the host runs there later. They are read-only
 * for commands, and the host restores nothing in them.
 */
export const PROTECTED_NAMES: readonly string[] = [".git", ".codex", ".bobbin", ".agents"];

/**
 * The first protected name in a path below a workspace folder; undefined if there is none. Case does not matter,
 * because it does not on the disks of macOS.
 */
export function protectedName(path: string): string | undefined {
  return path.split(/[/\\]/).find((name) => PROTECTED_NAMES.includes(name.toLowerCase()));
}
