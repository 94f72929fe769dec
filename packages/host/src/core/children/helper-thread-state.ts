import type { CollabAgentState, UserInput } from "@bobbin/protocol";
import type { ThreadSettings } from "../life/records.ts";

/** A helper: a child thread that the model started and has not closed. */
export interface Helper {
  readonly childId: string;
  readonly nickname: string;
  readonly role: string | null;
  /** The parameters for creating the helper's thread; null once the thread exists. */
  readonly start: HelperStart | null;
  /** The helper's last state that its parent has read. */
  readonly state: CollabAgentState;
  /** The last commit of the helper's journal that its parent has read. */
  readonly heard: number;
  /** Inputs that the helper has not received yet, oldest first. */
  readonly inputs: readonly HelperInput[];
  /** The permissions that the parent sent to the helper last. */
  readonly permissions?: Permissions | undefined;
}

/** The settings that limit what a thread may do. */
export type Permissions = Pick<
  ThreadSettings,
  "cwd" | "roots" | "approvalPolicy" | "approvalsReviewer" | "sandbox" | "permissionProfile"
>;

export function permissionsOf(settings: ThreadSettings): Permissions {
  const { cwd, roots, approvalPolicy, approvalsReviewer, sandbox, permissionProfile = null } = settings;
  const inRoots = roots === undefined ? {} : { roots };
  return { cwd, ...inRoots, approvalPolicy, approvalsReviewer, sandbox, permissionProfile };
}

export interface HelperStart {
  /** The tool call that started the helper. It waits until the helper's thread exists. */
  readonly callId: string;
  /** Whether the helper starts with its parent's history. */
  readonly fork: boolean;
  /** The settings that differ from the parent's. */
  readonly settings: HelperSettings;
  /** Replaces the parent's developer instructions; null keeps them. */
  readonly developerInstructions: string | null;
}

/** The settings that a tool call or a role may choose. None of them extends the permissions. */
export type HelperSettings = Partial<
  Pick<ThreadSettings, "model" | "effort" | "summary" | "verbosity" | "personality" | "serviceTier">
>;

export interface HelperInput {
  /** Identifies the input, so that the helper takes it only once. */
  readonly id: string;
  readonly input: readonly UserInput[];
  /** The turn of the root thread that this work is for. */
  readonly rootTurnId: string;
  /** The helper's permissions from this input on, if those of its parent have changed. */
  readonly permissions?: Permissions | undefined;
}

/** The data of a closed helper whose thread is loaded again. */
export type OpenedHelper = Pick<Helper, "nickname" | "role" | "state" | "heard">;

/** A helper's end that the model was not informed of. */
export interface HelperNews {
  readonly childId: string;
  /** The commit of the helper's journal that contains the end. */
  readonly seq: number;
  readonly state: CollabAgentState;
}

export interface HelpersState {
  readonly open: readonly Helper[];
  /** The ends of helpers that the model was not informed of, oldest first. */
  readonly news: readonly HelperNews[];
  /** Whether the thread ever had a helper. */
  readonly had: boolean;
}

export const NO_HELPERS: HelpersState = { open: [], news: [], had: false };

export function findHelper({ open }: HelpersState, childId: string): Helper | undefined {
  return open.find((helper) => helper.childId === childId);
}

/** Whether a state is final. An interrupted helper may still continue. */
export function isFinal({ status }: CollabAgentState): boolean {
  return status !== "pendingInit" && status !== "running" && status !== "interrupted";
}

/** Whether a helper works, or has input to work on. Its parent stays loaded until the helper is done. */
export function isAtWork({ start, inputs, state }: Helper): boolean {
  return start !== null || inputs.length > 0 || state.status === "running";
}

/** The result of waiting for a helper; undefined while it works. */
export function resultOf(helpers: HelpersState, childId: string): CollabAgentState | undefined {
  const helper = findHelper(helpers, childId);
  if (helper === undefined) return NOT_FOUND;
  return helper.inputs.length === 0 && isFinal(helper.state) ? helper.state : undefined;
}

export const NOT_FOUND: CollabAgentState = { status: "notFound", message: null };
export const PENDING: CollabAgentState = { status: "pendingInit", message: null };
export const RUNNING: CollabAgentState = { status: "running", message: null };
export const SHUT_DOWN: CollabAgentState = { status: "shutdown", message: null };

/** A helper's state in the format of the agent tools. */
export function statusForModel({ status, message }: CollabAgentState): unknown {
  switch (status) {
    case "completed":
      return { completed: message };
    case "errored":
      return { errored: message ?? "" };
    default:
      return status.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  }
}
