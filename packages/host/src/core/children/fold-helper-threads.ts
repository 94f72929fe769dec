import type { ThreadState } from "../state.ts";
import { type Helper, PENDING, permissionsOf, RUNNING } from "./helper-thread-state.ts";
import type { ChildRecord } from "./records.ts";

/** Limit on pending notes about ended helpers, because checkpoints contain them. The oldest are dropped. */
const MAX_NEWS = 64;

type Of<T extends ChildRecord["type"]> = Extract<ChildRecord, { type: T }>;

export function foldHelperDue(state: ThreadState, record: Of<"helperDue">): ThreadState {
  const { childId, nickname, role, start, input } = record;
  const helper = { childId, nickname, role, start, state: PENDING, heard: 0, inputs: [input] };
  return withOpen(state, { ...helper, permissions: permissionsOf(state.settings) });
}

export function foldHelperMade(state: ThreadState, { childId, heard }: Of<"helperMade">): ThreadState {
  return changed(state, childId, (helper) => ({ ...helper, start: null, heard }));
}

export function foldHelperOpened(state: ThreadState, record: Of<"helperOpened">): ThreadState {
  const { childId, nickname, role, heard } = record;
  const helper = { childId, nickname, role, start: null, state: record.state, heard, inputs: [] };
  return withOpen(state, { ...helper, permissions: permissionsOf(state.settings) });
}

export function foldHelperInputSent(
  state: ThreadState,
  { childId, input }: Of<"helperInputSent">,
): ThreadState {
  return changed(state, childId, (helper) => ({
    ...helper,
    inputs: [...helper.inputs, input],
    permissions: input.permissions ?? helper.permissions,
  }));
}

export function foldHelperInputTaken(state: ThreadState, record: Of<"helperInputTaken">): ThreadState {
  const { childId, inputId, seq } = record;
  return changed(state, childId, (helper) => ({
    ...helper,
    inputs: helper.inputs.filter(({ id }) => id !== inputId),
    // The parent may already have read past the turn that the input started; the state is newer then.
    state: seq !== null && seq > helper.heard ? RUNNING : helper.state,
  }));
}

export function foldHelperHeard(state: ThreadState, record: Of<"helperHeard">): ThreadState {
  const { childId, seq, untold } = record;
  const after = changed(state, childId, (helper) => ({ ...helper, heard: seq, state: record.state }));
  if (!untold) return after;
  const news = [...after.helpers.news, { childId, seq, state: record.state }].slice(-MAX_NEWS);
  return { ...after, helpers: { ...after.helpers, news } };
}

export function foldHelperTold(state: ThreadState, { childId, seq }: Of<"helperTold">): ThreadState {
  const news = state.helpers.news.filter((one) => one.childId !== childId || one.seq !== seq);
  return { ...state, helpers: { ...state.helpers, news } };
}

export function foldHelperClosed(state: ThreadState, { childId }: Of<"helperClosed">): ThreadState {
  const open = state.helpers.open.filter((helper) => helper.childId !== childId);
  return { ...state, helpers: { ...state.helpers, open } };
}

/** Removes the open helpers of a closed thread. Notes for the model stay until its next turn. */
export function withoutHelpers({ helpers }: ThreadState): ThreadState["helpers"] {
  return { ...helpers, open: [] };
}

/** Adds an open helper. A damaged journal may open the same helper twice, so an existing entry is replaced. */
function withOpen(state: ThreadState, helper: Helper): ThreadState {
  const others = state.helpers.open.filter(({ childId }) => childId !== helper.childId);
  return { ...state, helpers: { ...state.helpers, open: [...others, helper], had: true } };
}

function changed(state: ThreadState, childId: string, change: (helper: Helper) => Helper): ThreadState {
  const open = state.helpers.open.map((helper) => (helper.childId === childId ? change(helper) : helper));
  return { ...state, helpers: { ...state.helpers, open } };
}
