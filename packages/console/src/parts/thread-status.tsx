import type { ThreadStatus } from "@bobbin/protocol";

/** The status of a thread in words. */
export function statusText(status: ThreadStatus): string {
  switch (status.type) {
    case "notLoaded":
      return "Not loaded";
    case "idle":
      return "Idle";
    case "systemError":
      return "Failed";
    case "active":
      if (status.activeFlags.includes("waitingOnApproval")) return "Needs approval";
      return status.activeFlags.includes("waitingOnUserInput") ? "Has a question" : "Working";
  }
}

export function statusClass(status: ThreadStatus): string {
  if (status.type === "active") return status.activeFlags.length > 0 ? "waiting" : "working";
  return status.type === "systemError" ? "failed" : status.type === "idle" ? "idle" : "unloaded";
}

export function StatusDot({ status }: { status: ThreadStatus }) {
  return <span class={`dot ${statusClass(status)}`} role="img" aria-label={statusText(status)} />;
}

export function StatusChip({ status }: { status: ThreadStatus }) {
  return (
    <span class={`chip ${statusClass(status)}`}>
      <span class={`dot ${statusClass(status)}`} aria-hidden="true" />
      {statusText(status)}
    </span>
  );
}
