import type { Thread } from "@bobbin/protocol";
import { type Output, oneLine } from "./terminal-output.ts";
import { textWidth } from "./text-width.ts";

/** The name of a thread, or else the beginning of its first message, on one line. */
export function threadTitle({ name, preview }: Pick<Thread, "name" | "preview">, width = 0): string {
  return oneLine(name ?? "", width) || oneLine(preview, width) || "(no messages yet)";
}

/** The state of a thread in a few words. */
export function statusWords({ status, heldBy }: Pick<Thread, "status" | "heldBy">): string {
  if (heldBy != null) return "loaded by another host";
  switch (status.type) {
    case "notLoaded":
      return "not loaded";
    case "idle":
      return "idle";
    case "systemError":
      return "failed";
    case "active":
      if (status.activeFlags.includes("waitingOnApproval")) return "waits for approval";
      return status.activeFlags.includes("waitingOnUserInput") ? "waits for an answer" : "running";
  }
}

const UNITS = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
] as const;

/** How long ago a time was, given in seconds since 1970. */
export function ago(seconds: number, nowSeconds: number): string {
  const passed = nowSeconds - seconds;
  if (passed < 60) return "just now";
  // After 30 days, a date is easier to understand than a number of days.
  if (passed > 30 * 86_400) return `on ${new Date(seconds * 1000).toISOString().slice(0, 10)}`;
  return `${duration(passed)} ago`;
}

/** A duration in its largest unit. */
export function duration(seconds: number): string {
  for (const [unit, name] of UNITS) if (seconds >= unit) return `${Math.floor(seconds / unit)} ${name}`;
  return `${Math.max(0, Math.ceil(seconds))} s`;
}

/** A path in which the user's home folder is written as ~. */
export function shortPath(path: string, homeFolder = process.env["HOME"]): string {
  const isBelow =
    homeFolder && homeFolder !== "/" && (path === homeFolder || path.startsWith(`${homeFolder}/`));
  return oneLine(isBelow ? `~${path.slice(homeFolder.length)}` : path);
}

/** Two lines for a thread in a list: its title and state, then its id and folder. */
export function threadLines(thread: Thread, out: Output, nowSeconds: number): readonly string[] {
  const state = `${statusWords(thread)} · ${ago(thread.recencyAt ?? thread.updatedAt, nowSeconds)}`;
  const { columns } = out;
  const room = columns === 0 ? 0 : Math.max(20, columns - state.length - 4);
  const title = threadTitle(thread, room);
  const gap = " ".repeat(Math.max(2, columns - textWidth(title) - state.length - 1));
  return [`${out.bold(title)}${gap}${state}`, out.dim(`  ${thread.id}  ${shortPath(thread.cwd)}`)];
}
