import { createHash } from "node:crypto";
import { dirname, join, resolve } from "node:path";
import type { FileUpdateChange, ThreadItem } from "@bobbin/protocol";
import type { ThreadState } from "../../core/state.ts";
import type { Clock, FilePlace, Files, ReadableFiles, WorkspaceFiles } from "../../platform/platform.ts";
import { WritableRoots } from "../../sandbox/writable-roots.ts";
import { decisionOf } from "../consent/approval-answer.ts";
import { NO_RULES } from "../consent/command-and-network-rules.ts";
import type { Consent } from "../consent/consent.ts";
import { decideConsent } from "../consent/decide-consent.ts";
import { patchGrant } from "../consent/patch-consent.ts";
import { widenedByGrants } from "../consent/permissions.ts";
import {
  type Invocation,
  PLAN_DAMAGED,
  planOf,
  refusal,
  type Step,
  type Tool,
  type ToolSource,
} from "../tool.ts";
import { applyPlan, digestOf, MAX_FILE_BYTES, type PlannedFile, plannedFiles } from "./apply-plan.ts";
import { PatchError, parsePatch } from "./parse-patch.ts";
import { GRAMMAR } from "./patch-grammar.ts";
import { type FileWrite, type PatchPlan, patchReport, planPatch } from "./plan-patch.ts";
import { RECORDED_PLAN, type RecordedPlan } from "./recorded-plan.ts";

const DESCRIPTION =
  "Changes files. The patch begins with `*** Begin Patch` and ends with `*** End Patch`; between them stand `*** Add File: PATH` with lines that begin with `+`, `*** Delete File: PATH`, and `*** Update File: PATH` (then `*** Move to: PATH` if it gets another name) with hunks: `@@` and a line of the file that stands before, then lines that begin with a space (stays), `-` (goes) or `+` (is new). Give a few lines of context around each change. Paths are relative to the working folder.";

const parameters = {
  type: "object",
  properties: { input: { type: "string", description: "The whole patch." } },
  required: ["input"],
  additionalProperties: false,
};

/** The parts of the host that applying patches needs. */
export interface PatchPorts {
  readonly clock: Pick<Clock, "monotonic">;
  readonly workspace: WorkspaceFiles;
  readonly files: Pick<Files, "realPath">;
  /** The files that the thread's model may read. */
  filesOf(thread: ThreadState): Pick<ReadableFiles, "openRead">;
  /** Whether the thread could ever be allowed to change a file. The path must be a real path. */
  mayWrite(thread: ThreadState, path: string): Promise<boolean>;
  /** The real paths that the thread's permission profile does not allow to write; null if there is no profile. */
  unwritable(thread: ThreadState, paths: readonly string[]): Promise<readonly string[] | null>;
  /** The paths in writable folders that commands of the thread can only read. */
  guarded(thread: ThreadState, paths: readonly string[]): Promise<readonly string[]>;
}

/**
 * The tool source with `apply_patch`: a freeform tool for models that were trained with it, a function for other
 * models.
 */
export function patchToolSource(ports: PatchPorts): ToolSource {
  const tool = patchTool(ports);
  const freeform: Tool = {
    ...tool,
    spec: { kind: "custom", name: "apply_patch", description: DESCRIPTION, format: GRAMMAR },
  };
  return { tools: ({ settings }) => [knowsFreeform(settings.model) ? freeform : tool] };
}

function knowsFreeform(model: string): boolean {
  return /^gpt-5|codex/.test(model ?? "");
}

/** The tool `apply_patch` as a function. */
export function patchTool(ports: PatchPorts): Tool {
  const { workspace } = ports;
  const roots = new WritableRoots(ports.files);
  return {
    name: "apply_patch",
    namespace: null,
    parameters,
    spec: {
      kind: "function",
      name: "apply_patch",
      namespace: null,
      description: DESCRIPTION,
      parameters,
      strict: false,
    },
    async begin(invocation) {
      const planned = await plan(ports, invocation);
      if (planned instanceof PatchError)
        return refusal(`apply_patch verification failed: ${planned.message}`);
      const item = itemOf(invocation, planned.changes, "inProgress");
      const consent = await consentTo(ports, roots, invocation.thread, planned);
      switch (consent.kind) {
        case "sandboxed":
        case "unsandboxed":
          return dispatch(planned, item);
        case "ask":
          return {
            kind: "ask",
            question: questionAbout(planned),
            item,
            ask: askAbout(invocation, consent.reason),
          };
        case "refuse":
          return refusal(consent.reason);
      }
    },
    async heard(invocation, { name, method }, answer) {
      const planned = await plan(ports, invocation);
      const shown = shownChanges(invocation);
      if (planned instanceof PatchError)
        return failed(
          invocation,
          shown,
          `apply_patch verification failed: ${planned.message} The files were changed while the user was asked.`,
        );
      const reason = await refusalOf(ports, invocation.thread, planned);
      if (reason !== undefined) return failed(invocation, shown, reason);
      if (name?.startsWith(APPROVAL) && name !== questionAbout(planned))
        return failed(
          invocation,
          shown,
          "The patch was not applied: the files are not as they were when the user was asked, or a link leads elsewhere. Try it again.",
        );
      const decision = decisionOf(method, answer);
      switch (decision.kind) {
        case "accept":
          return dispatch(planned);
        case "acceptForSession":
          return { ...dispatch(planned), grant: patchGrant(pathsOf(planned)) };
        case "acceptWithRule":
        case "networkRule":
        case "decline":
          return {
            kind: "settle",
            output: `The patch was not applied: ${decision.kind === "decline" ? decision.words : "the answer does not fit the question."}`,
            success: false,
            item: itemOf(invocation, shown, "declined"),
          };
        case "cancel":
          return { kind: "interrupt", item: itemOf(invocation, shown, "declined") };
      }
    },
    async perform(invocation) {
      const shown = shownChanges(invocation);
      const recorded = planOf(RECORDED_PLAN, invocation);
      if (recorded === undefined) return failed(invocation, shown, PLAN_DAMAGED);
      if (isAfterCrash(invocation)) await removeDrafts(workspace, recorded);
      const startedAt = ports.clock.monotonic();
      const report = (exitCode: number, text: string): string =>
        [
          `Exit code: ${exitCode}`,
          `Wall time: ${((ports.clock.monotonic() - startedAt) / 1000).toFixed(1)} seconds`,
          `Output:\n${text}`,
        ].join("\n");
      const left = await remainingWrites(ports, invocation, recorded);
      if (typeof left === "string") return failed(invocation, shown, report(1, left));
      const { allowed } = recorded;
      const applied = await applyPlan(left, workspace, (path) => allowed.includes(path));
      if (applied.kind === "failed") {
        const changed =
          applied.changed.length === 0
            ? "No file was changed."
            : `These files have the new content all the same: ${applied.changed.join(", ")}.`;
        return failed(invocation, shown, report(1, `The patch was not applied. ${applied.why}. ${changed}`));
      }
      return {
        kind: "settle",
        output: report(0, patchReport(parsePatch(textOf(invocation)))),
        success: true,
        item: itemOf(invocation, shown, "completed"),
      };
    },
  };
}

/** Prefix of the name of an approval question. Journals of older versions contain questions without this prefix. */
const APPROVAL = "approval of ";

/**
 * The name of the approval question. It contains a digest of what was shown: the places of the files, and their content
 * before and after. So an answer counts only for that.
 */
function questionAbout(planned: LocatedPlan): string {
  const shown = JSON.stringify(recordedPlan(planned));
  return APPROVAL + createHash("sha256").update(shown).digest("hex").slice(0, 32);
}

/** A plan with the places of its files. They are resolved once: consent, approval and writes all use these. */
interface LocatedPlan extends PatchPlan {
  /** In the order of `writes`. */
  readonly places: readonly FilePlace[];
}

async function plan(ports: PatchPorts, invocation: Invocation): Promise<LocatedPlan | PatchError> {
  const { thread } = invocation;
  try {
    const text = textOf(invocation);
    const { cwd } = thread.settings;
    if (text.includes("\0")) throw new PatchError("The patch must not contain the character NUL.");
    // Folders are made below the working folder, but the working folder itself may have been removed on purpose.
    if (!(await isFolder(ports, cwd))) throw new PatchError(`The working folder ${cwd} does not exist.`);
    const plan = await planPatch(parsePatch(text), cwd, (path) => readBytes(ports, thread, path));
    // Fails if a path cannot exist, because a name is too long for example.
    const places = await Promise.all(
      plan.writes.map(({ path, after }) => ports.workspace.locate(path, { link: after === null })),
    );
    return { ...plan, places };
  } catch (cause) {
    if (cause instanceof PatchError) return cause;
    return new PatchError(`The patch cannot be applied: ${(cause as Error).message}`);
  }
}

function textOf({ args }: Invocation): string {
  return typeof args === "string" ? args : (args as { input: string }).input;
}

async function isFolder({ workspace }: PatchPorts, path: string): Promise<boolean> {
  // The place of a file is in the nearest folder that exists.
  const inside = await workspace.locate(join(path, "file"), { link: true });
  return inside.folder.path === dirname(inside.path);
}

async function readBytes(ports: PatchPorts, thread: ThreadState, path: string): Promise<string | null> {
  const file = await ports.filesOf(thread).openRead(path);
  if (file === undefined) return null;
  try {
    const size = await file.size();
    if (size > MAX_FILE_BYTES) throw new PatchError(`${path} is larger than ${MAX_FILE_BYTES} bytes.`);
    return Buffer.from(await file.read(0, size)).toString("latin1");
  } finally {
    await file.close();
  }
}

async function consentTo(
  ports: PatchPorts,
  known: WritableRoots,
  thread: ThreadState,
  planned: LocatedPlan,
): Promise<Consent> {
  const { approvalPolicy: policy, cwd } = thread.settings;
  const own = { sandbox: thread.settings.sandbox, roots: thread.settings.roots ?? [cwd] };
  const { sandbox, roots: reached } = widenedByGrants(own, thread.grants, thread.turn?.id ?? null);
  // As for commands: a root that a command exchanged for a symlink is none.
  const roots = await known.of(reached);
  const paths = pathsOf(planned);
  const reason = await refusalOf(ports, thread, planned);
  if (reason !== undefined) return { kind: "refuse", reason };
  return decideConsent({
    what: {
      kind: "patch",
      paths,
      unwritable: await ports.unwritable(thread, paths),
      guarded: await ports.guarded(thread, paths),
    },
    policy,
    sandbox,
    roots,
    sandboxProblem: null,
    rules: NO_RULES,
    grants: thread.grants,
    strict: thread.turn?.strictReview ?? false,
  });
}

/** Why a patch is refused without a question to the user; undefined if it is not refused. */
async function refusalOf(
  { mayWrite }: PatchPorts,
  thread: ThreadState,
  planned: LocatedPlan,
): Promise<string | undefined> {
  const { writes } = planned;
  const paths = pathsOf(planned);
  for (const [nth, path] of paths.entries()) {
    const { path: named } = writes[nth]!;
    if (!(await mayWrite(thread, path)))
      return `The patch was not applied: ${named} is outside of the folders that may be changed. Work within them.`;
    const other = paths.indexOf(path);
    // The patch names a file and also a symlink to it. One of the two changes would be lost.
    if (other !== nth)
      return `The patch was not applied: ${writes[other]!.path} and ${named} are the same file. Name it in one way.`;
  }
  return undefined;
}

/** The real paths of a plan's files. */
function pathsOf({ places }: LocatedPlan): readonly string[] {
  return places.map(({ path }) => path);
}

function recordedPlan(planned: LocatedPlan): RecordedPlan {
  return {
    files: plannedFiles(planned.writes),
    allowed: pathsOf(planned),
    folders: planned.places.map(({ folder }) => folder),
  };
}

function dispatch(planned: LocatedPlan, item?: ThreadItem): Extract<Step, { kind: "dispatch" }> {
  const plan = recordedPlan(planned);
  return { kind: "dispatch", again: true, plan, changes: plan.allowed, ...(item && { item }) };
}

function isAfterCrash({ thread }: Invocation): boolean {
  return (thread.turn?.lostHosts ?? 0) > 0;
}

/** Removes what a killed host has left beside the files. Best effort: the patch does not depend on it. */
async function removeDrafts(
  workspace: WorkspaceFiles,
  { allowed, folders = [] }: RecordedPlan,
): Promise<void> {
  await Promise.all(
    allowed.map((path, nth) => workspace.removeDrafts(path, { from: folders[nth] }).catch(() => {})),
  );
}

/** The writes of the recorded plan that are still missing, or why they are no longer possible. */
async function remainingWrites(
  ports: PatchPorts,
  invocation: Invocation,
  { files: recorded, allowed, folders = [] }: RecordedPlan,
): Promise<readonly FileWrite[] | string> {
  const { thread } = invocation;
  const now = new Map<string, string | null>();
  const places = new Map<string, FilePlace>();
  for (const [nth, { path }] of recorded.entries()) {
    now.set(path, await readBytes(ports, thread, allowed[nth] ?? path));
    const folder = folders[nth];
    if (folder !== undefined) places.set(path, { path: allowed[nth] ?? path, folder });
  }
  const isDone = ({ path, after }: PlannedFile): boolean => digestOf(now.get(path)!) === after;
  const left = recorded.filter((file) => !isDone(file));
  const changed = left.find(({ path, before }) => digestOf(now.get(path)!) !== before);
  if (changed !== undefined)
    return `The patch was not applied: ${changed.path} was changed by someone else in the meantime. Read it again.`;
  const removed = left.filter(({ after }) => after === null);
  const writes: FileWrite[] = removed.map(({ path }) => ({
    path,
    before: now.get(path)!,
    after: null,
    place: places.get(path),
  }));
  if (left.length > removed.length) {
    const planned = await replan(ports, invocation, new Set(recorded.filter(isDone).map(({ path }) => path)));
    if (planned instanceof PatchError) return planned.message;
    for (const { path, before, after } of left) {
      if (after === null) continue;
      const write = planned.writes.find((one) => one.path === path);
      if (write === undefined || digestOf(write.after) !== after)
        return `The patch was not applied: ${path} cannot be made as it was planned. Read it again.`;
      writes.push({ ...write, before: before === null ? null : now.get(path)!, place: places.get(path) });
    }
  }
  return writes;
}

/** Plans the patch again, without the files that are already written. */
async function replan(
  ports: PatchPorts,
  invocation: Invocation,
  done: ReadonlySet<string>,
): Promise<PatchPlan | PatchError> {
  const { cwd } = invocation.thread.settings;
  const files = parsePatch(textOf(invocation)).filter((file) => {
    const name = file.kind === "update" ? (file.moveTo ?? file.path) : file.path;
    return !done.has(resolve(cwd, name));
  });
  try {
    return await planPatch(files, cwd, (path) => readBytes(ports, invocation.thread, path));
  } catch (cause) {
    if (cause instanceof PatchError) return cause;
    throw cause;
  }
}

function askAbout(
  { thread, turnId, call, now }: Invocation,
  reason: string | null,
): Extract<Step, { kind: "ask" }>["ask"] {
  return {
    method: "item/fileChange/requestApproval",
    params: {
      threadId: thread.facts.id,
      turnId,
      itemId: call.callId,
      startedAtMs: now,
      reason,
      grantRoot: null,
    },
  };
}

/** The changes that clients saw when the call began. */
function shownChanges({ thread, call }: Invocation): readonly FileUpdateChange[] {
  const item = thread.turn?.open.find(({ id }) => id === call.callId);
  return item?.type === "fileChange" ? item.changes : [];
}

function itemOf(
  { call, startedAt, now }: Invocation,
  changes: readonly FileUpdateChange[],
  status: Extract<ThreadItem, { type: "fileChange" }>["status"],
): ThreadItem {
  return {
    type: "fileChange",
    id: call.callId,
    changes: [...changes],
    status,
    startedAtMs: startedAt,
    completedAtMs: status === "inProgress" ? null : now,
  };
}

function failed(invocation: Invocation, changes: readonly FileUpdateChange[], output: string): Step {
  return { kind: "settle", output, success: false, item: itemOf(invocation, changes, "failed") };
}
