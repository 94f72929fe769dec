import {
  choice,
  codexOnly,
  either,
  flag,
  type KeyTable,
  type KeyType,
  list,
  named,
  table,
  text,
  textList,
  whole,
} from "./key.ts";

const HOOK: KeyType = table({
  type: { type: text, about: '`"command"`; other types are not run.' },
  command: { type: text, about: "The command, run in the user's shell." },
  timeout: {
    type: whole(1),
    about: "Time limit in seconds.",
    default: "600; 1 for SessionEnd and Interrupt, at most 3",
  },
  statusMessage: { type: text, about: "Text that clients show while it runs." },
  async: { type: flag, about: "Whether the thread goes on without waiting for it.", default: "false" },
  additionalContextLimit: {
    type: whole(0),
    about: "Limit on the tokens of the context that it adds; 0 for no limit.",
    default: "2500",
  },
  ...codexOnly("commandWindows", "command_windows", "server", "tool", "input"),
});

const GROUPS: KeyType = list(
  table({
    matcher: {
      type: text,
      about: "Pattern of tool names, or of the event's other subjects.",
      default: "all",
    },
    hooks: { type: list(HOOK), about: "The hooks." },
  }),
);

const EVENTS = {
  PreToolUse: "Before a tool is called.",
  PermissionRequest: "Before the user is asked for an approval.",
  PostToolUse: "After a successful tool call.",
  PreCompact: "Before the conversation is summarized.",
  PostCompact: "After the conversation was summarized.",
  SessionStart: "Before the first turn of a thread's load.",
  SessionEnd: "Before a thread is unloaded.",
  UserPromptSubmit: "Before the user's message is sent to the model.",
  SubagentStart: "Before the first turn of a helper.",
  SubagentStop: "Before a turn of a helper ends.",
  Stop: "Before a turn ends.",
  Interrupt: "After a turn was interrupted.",
};

const STATE = table({
  enabled: { type: flag, about: "Whether the hook runs.", default: "true" },
  trusted_hash: { type: text, about: "The digest of a project's hook as it was trusted." },
});

/** Keys of hooks and of `notify`. */
export const HOOK_KEYS: KeyTable = {
  hooks: {
    type: table({
      ...Object.fromEntries(Object.entries(EVENTS).map(([name, about]) => [name, { type: GROUPS, about }])),
      state: {
        type: named("KEY", STATE, "One hook, by its key in `hooks/list`."),
        about: "The user's decisions about hooks.",
      },
      ...codexOnly("PreModelRequest", "PostModelRequest"),
    }),
    about: "Commands that the host runs at certain points of a thread; see docs/hooks.md.",
  },
  notify: {
    type: either(
      textList,
      table({
        command: {
          type: textList,
          about: "A program and its arguments; the event is its last argument, as JSON.",
        },
        url: { type: text, about: "URL to which the event is sent by POST, as JSON." },
        events: {
          type: list(choice("turn", "approval")),
          about: "The events: the end of a turn, and a question that waits for a person.",
          default: "both",
        },
      }),
    ),
    about: "A program that is run when a turn has completed; or a table with more settings.",
    default: "none",
  },
};
