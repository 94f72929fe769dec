/** Skills that are switched and watched, saved prompts, hooks, and `notify`. */
export const hookLines = {
  "SKILL-1":
    "`skills/config/write` switches a skill off and on by path or by name, in the user's config.toml, and leaves the rest of it as it was.",
  "SKILL-2":
    "`skills/extraRoots/set` replaces further folders of skills until the host ends; ones that are missing hold none.",
  "SKILL-3":
    "Who has listed skills is sent `skills/changed` when one is made, changed or removed, once for changes within 200 ms.",

  // Saved prompts.
  "PROMPT-1":
    "`prompts/list` lists the prompts in the home and around a folder by name, and `prompts/read` reads one.",
  "PROMPT-2":
    "Prompts of a project are offered only if the project is trusted, and never replace those of the home.",
  "PROMPT-3":
    "A prompt file that is broken, too large, unreadable or too many gives a warning, and the others are listed.",
  "PROMPT-4":
    "A prompt is expanded with its arguments: words, names, quotes; missing names are reported, other dollar signs stay.",
  "PROMPT-5": "A subject gets no prompts of the home or of projects, and cannot name folders beyond its own.",
  "PROMPT-7": "`bobbin chat` lists prompts, sends them expanded, and says which arguments are missing.",
  "PROMPT-8":
    "`mcpServer/prompt/list` lists the prompts of a thread's MCP servers, and `mcpServer/prompt/get` gives what one becomes as input.",
  "PROMPT-9":
    "An MCP server that does not list its prompts, or lists malformed ones, costs the others nothing.",
  "PROMPT-6":
    "The console lists saved prompts behind `/`, sends them expanded, and says which arguments are missing.",

  // Hooks.
  "HOOK-1":
    "A UserPromptSubmit hook gets the prompt, adds to what the model is shown, and can block: then the model is not called and never sees the prompt.",
  "HOOK-2":
    "A PreToolUse hook gets the call before it is made, and can block it with a reason for the model, or change its input.",
  "HOOK-3":
    "A PostToolUse hook gets the output of a call that went well, and can put its own words in the output's place.",
  "HOOK-4": "A Stop hook that blocks has the model go on with its reason; the next one knows that it did.",
  "HOOK-5":
    "`hook/started` and `hook/completed` show each run, with its status and what it said, in the Codex CLI's form.",
  "HOOK-6": "A hook runs in its thread's sandbox, with the environment of the thread's commands.",
  "HOOK-7": "A hook that takes longer than its time is ended with all that it started, and decides nothing.",
  "HOOK-8":
    "A project's hook runs only if the project is trusted and the hook is as it was when it was trusted.",
  "HOOK-9":
    "`hooks/list` shows the hooks of a folder with their digests, whether they are trusted, and what is wrong.",
  "HOOK-10":
    "What hooks said counts once, however often the host dies: what was blocked stays blocked, and hooks without an answer run again.",
  "HOOK-11": "A hook that hangs keeps no other thread from its turns, and an interrupt ends it.",
  "HOOK-12":
    "A SessionStart hook runs before the first turn of a load, and again after a compaction; it can add to the conversation, and end the turn.",
  "HOOK-13":
    "A PermissionRequest hook can allow or deny in place of people; one that decides nothing leaves it to them.",
  "HOOK-14":
    "PreCompact and PostCompact hooks run around each compaction; the first can keep it from being made.",
  "HOOK-15":
    "In a helper SubagentStart and SubagentStop hooks run in place of SessionStart and Stop, with the helper's id and role.",
  "HOOK-16":
    "An Interrupt hook hears of an interrupted turn, and a SessionEnd hook of a thread that is about to be unloaded; neither takes longer than three seconds.",
  "HOOK-17":
    "Nobody waits for a hook with `async`; it decides nothing, and what it adds comes with the next call of the model.",
  "HOOK-18": "The examples of docs/hooks.md do what the page says.",
  "HOOK-19": "Hooks of several layers add up, each with its own source; the machine's are managed.",
  "HOOK-20":
    "A warning about a project's hooks that do not run names the command that trusts them; `bobbin trust` and `bobbin hooks trust` trust hooks as they are.",

  // What people are notified by.
  "NOTIFY-1":
    '`notify = ["program", …]` runs the program at the end of a completed turn, with the Codex CLI\'s JSON as its last argument and without secrets.',
  "NOTIFY-2":
    "`[notify]` runs a program, posts to an address, or both, when a turn ends and when a question waits for people.",
  "NOTIFY-3":
    "A notification that hangs or fails holds up no turn, is not tried again, and ends with the host.",
} as const;
