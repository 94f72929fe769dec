/** Helpers: threads that models start. */
export const helperLines = {
  "HELPER-1":
    "A helper does its task in a child thread of its own, and its parent's model has the result of each of its turns once.",
  "HELPER-2":
    "How a helper ends that nobody waits for is told to its parent's model by itself, before the model's next words.",
  "HELPER-3":
    "What a helper asks is asked of all clients that follow its parent, also of those that come later, under the helper's id.",
  "HELPER-4": "A helper takes more input, is interrupted, closed and opened again by its parent's model.",
  "HELPER-5":
    "What clients are sent of a parent and its helper has the order that was recorded of the Codex CLI.",
  "HELPER-6": "No more helpers are open than is configured; the refusal says what to do.",
  "HELPER-7":
    "Helpers are nested no deeper than is configured, count together, and are not there where they are switched off.",
  "HELPER-8": "A helper has its parent's sandbox, policy, folder and roots, and never more.",
  "HELPER-9":
    "A helper has what people granted its parent for the session, for as long as the parent has it.",
  "HELPER-10":
    "A role chooses model, effort, instructions and names of a helper, and nothing that it may do.",
  "HELPER-11": "A helper begins with its task alone, or with its parent's conversation if the model says so.",
  "HELPER-12":
    "A parent waits for its helper until the deadline, over kills and restarts, out of memory if need be.",
  "HELPER-13": "An interrupt of the parent leaves its helpers at work.",
  "HELPER-14": "A helper at work keeps its parent loaded; an unload of the parent closes its helpers first.",
  "HELPER-15": "Archive, unarchive and delete of a thread do the same to its helpers.",
  "HELPER-16": "Lists show helpers by parent, by ancestor or by kind of source, and not among other threads.",
  "HELPER-17": "Input for a parent that waits for helpers ends the wait, and not the helpers.",
  "HELPER-18":
    "`bobbin exec` shows what helpers do, a line each, and `help: …` works with the offline model.",
  "HELPER-19": "The Codex TUI shows helpers by their names, and asks for their approvals.",
  "HELPER-20":
    "Whenever the host dies or ends, or a client closes the helper or its parent, each result of a helper reaches its parent's model once.",
  "HELPER-21": "A helper belongs to its parent's owner: no other subject sees it.",
  "HELPER-22":
    "What clients do to a helper, by a turn of their own or by closing it, is told to its parent's model.",
  "HELPER-23": "A helper whose turn fails has ended, with the reason.",
  "HELPER-24":
    "A helper shares its parent's MCP servers; their questions go to the parent's clients under the helper's id.",
  "HELPER-25":
    "A helper gets the input of its parent after a compaction or review that a client has started in it.",
};
