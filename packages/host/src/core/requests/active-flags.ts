import type { ThreadActiveFlag } from "@bobbin/protocol";
import type { PendingRequest } from "./records.ts";

/** The flags of an active thread's status. They say what kinds of answers its pending requests wait for. */
export function activeFlags(requests: readonly PendingRequest[]): ThreadActiveFlag[] {
  const flags = new Set(requests.map(flagOf));
  return (["waitingOnApproval", "waitingOnUserInput"] as const).filter((flag) => flags.has(flag));
}

function flagOf({ method }: PendingRequest): ThreadActiveFlag | undefined {
  switch (method) {
    case "item/commandExecution/requestApproval":
    case "item/fileChange/requestApproval":
    case "item/permissions/requestApproval":
    case "mcpServer/elicitation/request":
      return "waitingOnApproval";
    case "item/tool/requestUserInput":
      return "waitingOnUserInput";
    case "item/tool/call":
      return undefined;
  }
}
