// Every record → effect pair, and the test that crashes the host between the two.
import type { ThreadRecord } from "../../packages/host/src/core/records.ts";

type RecordType = ThreadRecord["type"];

/** A test by its file and its title. */
export interface CrashTest {
  readonly file: string;
  readonly title: string;
}

/** What a record leads to, besides the state. */
export interface RecordEffect {
  readonly effect: string;
  readonly crash: CrashTest;
}

/** The host dies of the record itself: in the step in which it reaches the disk, and in which it is synced. */
const atRecord = (type: RecordType): CrashTest => ({
  file: "test/model/crash-records.test.ts",
  title: `is followed by a host that performs the effect: ${type}`,
});
const droppedTurn: CrashTest = {
  file: "test/simulation/dropped-turn.test.ts",
  title: "[ONCE-2] goes on where it was, to the same single end (answers at once)",
};
const givenUp: CrashTest = {
  file: "test/simulation/question-deadlines.test.ts",
  title: "[ASK-7] are given up once by one of the hosts that follow, whenever one dies",
};
const results: CrashTest = {
  file: "test/simulation/tool-results.test.ts",
  title: "[RAPR-62] have their effect once, however often and whenever their host dies",
};
const unacknowledged: CrashTest = {
  file: "test/simulation/tool-unacknowledged.test.ts",
  title:
    "[RAPR-51] waits for its result, which may come before or after the next host, and is not sent twice",
};
const unacknowledgedLate: CrashTest = {
  file: "test/simulation/tool-unacknowledged.test.ts",
  title:
    "[RAPR-51] [RAPR-50] is given up at its deadline, ten minutes from its dispatch where none is configured",
};
const sentAgain: CrashTest = {
  file: "test/simulation/tool-unacknowledged.test.ts",
  title: "[RAPR-52] is sent again with the same id if its tool is idempotent",
};
const answered200: CrashTest = {
  file: "test/simulation/tool-durability.test.ts",
  title: "[RAPR-60] that was answered with 200 survives a power cut at that moment",
};
const children: CrashTest = {
  file: "test/simulation/tool-children.test.ts",
  title: "is handled once, by the thread itself if no child can be made, however often the host dies",
};
const helped: CrashTest = {
  file: "test/simulation/helpers.test.ts",
  title:
    "[HELPER-20] has its result reach its parent's model once, whichever of their hosts dies and whenever",
};
const choices: CrashTest = {
  file: "test/simulation/tool-choices.test.ts",
  title: "reaches a tool server that is away for long, however often the host dies meanwhile",
};
const eventTaken: CrashTest = {
  file: "test/simulation/recovery-after-crash.test.ts",
  title: "is followed by one for an event that its thread had taken, with nobody there to see it",
};
const adoptedTurn: CrashTest = {
  file: "test/simulation/recovery-after-crash.test.ts",
  title: "goes on at the next start, with nobody there to see it",
};
const queued: CrashTest = {
  file: "test/simulation/queue.test.ts",
  title: "gives each input one turn, in order, however often its host dies",
};
const pursued: CrashTest = {
  file: "test/simulation/goal.test.ts",
  title: "is pursued in so many turns and no more, and pays for each of them, however often its host dies",
};
const allowedForGood: CrashTest = {
  file: "test/simulation/allowed-for-good.test.ts",
  title: "[APPROVE-4] becomes a rule once, whenever the host dies after it (%s)",
};
const turnSettings: CrashTest = {
  file: "test/simulation/turn-settings.test.ts",
  title: "[TURN-16] count for the next call of the model, whenever the host dies after they were changed",
};
const mcpAllowedForGood: CrashTest = {
  file: "test/simulation/mcp.test.ts",
  title: "[MCPCALL-8] is in config.toml, whenever the host dies after the answer (%s)",
};
const mcpCallMade: CrashTest = {
  file: "test/simulation/mcp.test.ts",
  title: "[MCPCALL-29] is known to have been made after a power cut in the moment in which its server has it",
};
const mcpAsked: CrashTest = {
  file: "test/simulation/mcp.test.ts",
  title:
    "[MCPCALL-20] [MCPCALL-22] ends with the host that asked, each call has one answer, and no file has the address",
};
const patched: CrashTest = {
  file: "test/simulation/patch.test.ts",
  title: "[PATCH-11] is whole after the next start, whenever its host dies and however",
};
const commands: CrashTest = {
  file: "test/simulation/commands.test.ts",
  title:
    "[EXEC-11] complete their items once and leave no process, whatever happens to their thread and host",
};
const hookedEnd: CrashTest = {
  file: "test/simulation/hooks.test.ts",
  title:
    "[HOOK-10] of a turn's end run again in the host that follows one that died meanwhile, and then it ends",
};
const hooked: CrashTest = {
  file: "test/simulation/hooks.test.ts",
  title:
    "[HOOK-10] count once for what they said, and run again for what they did not, whenever their host dies",
};
const hookedQuestion: CrashTest = {
  file: "test/simulation/hooks.test.ts",
  title:
    "[HOOK-10] that answer in place of people are asked once, and people only what hooks leave to them, whenever the host dies",
};
const hookedCompaction: CrashTest = {
  file: "test/simulation/hooks.test.ts",
  title:
    "[HOOK-10] of compactions are asked once for each, and one that they refuse is not made, whenever the host dies",
};
const hookedHelper: CrashTest = {
  file: "test/simulation/hooks.test.ts",
  title:
    "[HOOK-10] of helpers run before the first call of their model and before their end, once, whenever the host dies",
};
const HOOK_EVENTS = [
  "PermissionRequest",
  "PreCompact",
  "PostCompact",
  "SubagentStart",
  "SubagentStop",
] as const;
/** The host dies of the record in which the answer of a hook is. */
const hooksAnswered = (event: (typeof HOOK_EVENTS)[number]): CrashTest => ({
  file: "test/simulation/hooks.test.ts",
  title: `[HOOK-10] are not asked again by the host that follows one that died of the record of their answer: ${event}`,
});
const steps = (scene: string): CrashTest => ({
  file: "test/model/crash-steps.test.ts",
  title: `loses nothing that a kill may not take of ${scene}`,
});

/** One effect, with the crash at the record. */
const leadsTo = (type: RecordType, ...effects: readonly string[]): readonly RecordEffect[] =>
  effects.map((effect) => ({ effect, crash: atRecord(type) }));

const also = (effect: string, crash: CrashTest): RecordEffect => ({ effect, crash });

/** By record type. A type without an effect says why it has none. */
export const recordEffects: Readonly<
  Record<RecordType, readonly RecordEffect[] | { readonly none: string }>
> = {
  created: leadsTo("created", "the reply to thread/start or thread/fork, and thread/started"),
  opened: leadsTo("opened", "the reply to a thread/resume that loads the thread"),
  adopted: [
    ...leadsTo("adopted", "thread/status/changed"),
    also("what the turn was at goes on", adoptedTurn),
  ],
  closed: leadsTo(
    "closed",
    "thread/closed, and the reply to thread/unload",
    "the record `notified`, where there are tool servers",
  ),
  notified: leadsTo("notified", "/close_thread to each tool server, at most once"),
  statusChanged: leadsTo("statusChanged", "thread/status/changed"),
  settingsChanged: leadsTo("settingsChanged", "thread/settings/updated"),
  loadSettingsChanged: leadsTo("loadSettingsChanged", "the reply; the next load is bound to them"),
  grantRevoked: leadsTo("grantRevoked", "thread/grants/revoked, and the reply to thread/grants/revoke"),
  readStateChanged: leadsTo(
    "readStateChanged",
    "thread/readState/changed, the reply to thread/readState/update, and the row of the index",
  ),
  renamed: leadsTo("renamed", "thread/name/updated, and the row of the index"),
  gitInfoChanged: leadsTo("gitInfoChanged", "the reply to thread/metadata/update"),
  sectionChanged: leadsTo(
    "sectionChanged",
    "thread/section/changed, the reply to thread/section/move, and the row of the index",
  ),
  turnsDropped: leadsTo("turnsDropped", "thread/reverted, and the texts of the index"),
  itemsInjected: leadsTo("itemsInjected", "the reply to thread/inject_items; the model sees them"),
  checkpoint: { none: "It repeats the state that the records before it lead to, for quick loads." },

  requestSent: [
    ...leadsTo("requestSent", "the question to clients"),
    also("the question again", droppedTurn),
    also("its end, when nobody has been there to answer it for long", givenUp),
  ],
  networkRuleDecided: [
    ...leadsTo("networkRuleDecided", "the rules file gets the rule"),
    also("the same at each step", steps("what a command asks about a host")),
  ],
  serverSampled: leadsTo(
    "serverSampled",
    "thread/tokenUsage/updated",
    "the MCP server gets what the model said; a crash ends its connection, and the call has an error output",
  ),
  networkRuleSaved: { none: "The rules file has the rule; nothing more is done because of it." },
  requestResolved: [
    ...leadsTo("requestResolved", "serverRequest/resolved", "the call goes on with the answer"),
    also(
      "a command or a patch, once, at each step",
      steps("what clients are asked about commands and patches"),
    ),
    also("a rule in the home, if the answer allows commands for good", allowedForGood),
    also("config.toml, if the answer allows an MCP tool for good", mcpAllowedForGood),
    also("the MCP server that asked gets the answer", mcpAsked),
  ],

  reviewStarted: [
    ...leadsTo(
      "reviewStarted",
      "item/autoApprovalReview/started",
      "a call of the model that judges the approval, and that call again",
    ),
    also("the same at each step", steps("what a model approves in place of a person")),
  ],
  reviewEnded: leadsTo(
    "reviewEnded",
    "guardianWarning and item/autoApprovalReview/completed",
    "the call goes on with the verdict, and is not reviewed again",
  ),
  denialApproved: leadsTo("denialApproved", "the reply to thread/approveGuardianDeniedAction"),
  reviewsExhausted: leadsTo("reviewsExhausted", "guardianWarning"),

  hooksStarted: [
    ...leadsTo("hooksStarted", "hook/started", "the hooks run, and run again if their host dies"),
    also("what they say counts once", hooked),
    also("the same of those of compactions", hookedCompaction),
    also("the same of those of permission requests", hookedQuestion),
    also("the same of those of helpers", hookedHelper),
  ],
  hooksEnded: [
    ...leadsTo(
      "hooksEnded",
      "hook/completed",
      "what they decided: the model is called, the call is made, or not",
    ),
    also("the same, once", hooked),
    ...HOOK_EVENTS.map((event) =>
      also(`what follows from it at ${event}, without asking again`, hooksAnswered(event)),
    ),
    also("a summary, or none and the end of the turn", hookedCompaction),
    also("the call goes on with their answer, or people are asked", hookedQuestion),
    also("the model of a helper is called, goes on, or its turn ends", hookedHelper),
  ],
  lastHooksDue: [
    ...leadsTo("lastHooksDue", "the hooks that a turn ends with run, and then it ends or goes on"),
    also("the same after a crash, and one end", hookedEnd),
    also("the same after a compaction of its own", hookedCompaction),
    also("the same in a helper", hookedHelper),
  ],

  turnStarted: leadsTo("turnStarted", "turn/started, and the reply to turn/start"),
  inputAccepted: { none: "It keeps the same input from being taken again; nothing is done because of it." },
  contextGiven: { none: "The next call of the model is given it; `sampleRequested` asks for that." },
  turnSettingsChanged: [
    ...leadsTo("turnSettingsChanged", "the reply to turn/settings/update"),
    also("the next call of the model is made with them", turnSettings),
  ],
  sampleRequested: [
    ...leadsTo("sampleRequested", "a call of the model"),
    also("that call again", droppedTurn),
  ],
  retrying: [
    ...leadsTo("retrying", "error"),
    also("the next call of the model, when it is due", droppedTurn),
  ],
  itemStarted: leadsTo("itemStarted", "item/started"),
  textSaved: { none: "Clients have seen the text; after a crash the item ends with it." },
  itemCompleted: leadsTo("itemCompleted", "item/completed"),
  toolCalled: [...leadsTo("toolCalled", "the first step of the tool"), also("that step again", droppedTurn)],
  toolDispatched: [
    ...leadsTo("toolDispatched", "the tool acts, or the call is sent to its tool server"),
    also("that again, if the tool is idempotent", sentAgain),
    also("else its result is waited for, and nothing is sent twice", unacknowledged),
    also("its result has its effect once", results),
    also("all files of a patch, and then its end", patched),
    also("the same at each step", steps("what a turn changes in files")),
    also("a command, which a crash ends and no host repeats", commands),
    also("a call of an MCP server, which no host repeats", mcpCallMade),
    also("the same at each step", steps("what commands do")),
  ],
  toolWaiting: [
    ...leadsTo("toolWaiting", "the deadline of the call"),
    also("that of a call that was never acknowledged, and then an unknown outcome", unacknowledgedLate),
  ],
  toolAnswered: [
    ...leadsTo("toolAnswered", "the next call of the model, when it was the last one"),
    also("the tool server's 200", answered200),
  ],
  callCancelled: leadsTo("callCancelled", "the record `cancelNotified`, where there are tool servers"),
  cancelNotified: leadsTo("cancelNotified", "/cancel_tool_call to each tool server, at most once"),
  approvalGranted: { none: "Later calls of that kind are not asked for; nothing is done because of it." },
  planUpdated: leadsTo("planUpdated", "turn/plan/updated"),
  turnDiffed: leadsTo("turnDiffed", "turn/diff/updated"),
  compactionRequested: [
    ...leadsTo("compactionRequested", "a call of the model for a summary"),
    also("that call again", droppedTurn),
  ],
  compacted: leadsTo("compacted", "thread/tokenUsage/updated", "the next call of the model"),
  compactionFailed: leadsTo("compactionFailed", "warning", "the next call of the model"),
  modelRerouted: leadsTo("modelRerouted", "model/rerouted"),
  sampleLost: leadsTo("sampleLost", "the calls that are left go on"),
  usageReported: leadsTo("usageReported", "thread/tokenUsage/updated"),
  turnEnded: leadsTo("turnEnded", "turn/completed", "the next queued input, event or turn for the goal"),

  submissionQueued: [
    ...leadsTo("submissionQueued", "thread/queue/changed"),
    also("a turn with it, when the thread is idle", queued),
  ],
  submissionChanged: leadsTo("submissionChanged", "thread/queue/changed"),
  queueReordered: leadsTo("queueReordered", "thread/queue/changed"),
  submissionRemoved: leadsTo("submissionRemoved", "thread/queue/changed"),

  goalChanged: [...leadsTo("goalChanged", "thread/goal/updated"), also("turns for it", pursued)],
  goalCleared: leadsTo("goalCleared", "thread/goal/cleared"),
  goalContext: { none: "The call of the model that is due is given it; `sampleRequested` asks for that." },
  goalTakenUp: leadsTo("goalTakenUp", "the next turn for the goal"),

  terminalLeft: leadsTo("terminalLeft", "the answer to the call; the command is attended to until it ends"),
  terminalInput: leadsTo("terminalInput", "item/commandExecution/terminalInteraction"),
  terminalEnded: leadsTo("terminalEnded", "item/completed, with the id of a turn that may have ended"),

  subscribed: { none: "Events of the call are taken from now on; nothing is done because of it." },
  subscriptionEnded: leadsTo(
    "subscriptionEnded",
    "the record `cancelNotified`, if its tool server did not end it",
  ),
  callDeferred: leadsTo("callDeferred", "the deadline of a call that the model does not wait for"),
  eventReceived: [
    ...leadsTo("eventReceived", "the tool server's 200"),
    also("a turn for it in an idle thread", eventTaken),
  ],
  eventInjected: leadsTo("eventInjected", "the model sees it, once"),
  callNoted: { none: "The next call of the model is given it; `sampleRequested` asks for that." },
  childDue: [
    ...leadsTo("childDue", "the tool server's 200", "a child that handles the event"),
    also("one child", children),
  ],
  childMade: leadsTo("childMade", "a look at whether the child is over"),
  childEnded: leadsTo("childEnded", "its parent may be unloaded"),
  helperDue: [
    ...leadsTo("helperDue", "the helper's thread, with its task"),
    also("one thread, and its result once", helped),
  ],
  helperMade: [
    ...leadsTo("helperMade", "the answer to spawn_agent", "the task is given to the helper"),
    also("its result once", helped),
  ],
  helperOpened: leadsTo("helperOpened", "the answer to resume_agent", "what becomes of the helper is heard"),
  helperInputSent: [
    ...leadsTo("helperInputSent", "the input is given to the helper"),
    also("the same, once", helped),
  ],
  helperInputTaken: leadsTo("helperInputTaken", "the input is not given to the helper again"),
  helperHeard: [
    ...leadsTo("helperHeard", "the answer to a wait_agent, or the model is told with its next call"),
    also("the same, once", helped),
  ],
  helperTold: { none: "The model is given the news by `itemsInjected`; they are not told again." },
  helperClosed: leadsTo("helperClosed", "the answer to close_agent; its parent may be unloaded"),
  choiceMade: [
    ...leadsTo("choiceMade", "the user's choice is sent to the tool server"),
    also("that again, until it is there", choices),
  ],
  choiceDelayed: [
    ...leadsTo("choiceDelayed", "the choice is sent again when it is due"),
    also("the same", choices),
  ],
  choicePosted: leadsTo("choicePosted", "the choice is not sent again"),
  viewUpdated: leadsTo("viewUpdated", "thread/view/updated, and the tool server's 200"),
};
