/** What the model is shown of the past, and the turns that are about it. */
export const historyLines = {
  "COMPACT-1":
    "thread/compact/start is a turn that ends with a summary, on every wire; the model is shown it, the user's last words and what clients put in.",
  "COMPACT-2": "A compaction by request ends a running turn, cannot be steered, and can be interrupted.",
  "COMPACT-3":
    "A compaction by request is tried again where that can help, and fails with what the model said.",
  "COMPACT-4": "A conversation that is too long to be summarised is summarised without its beginning.",
  "COMPACT-5":
    "Near the limit, or the end of the model's window, a conversation is made shorter by itself: before a turn's first answer and between its answers.",
  "COMPACT-6":
    "A model that refuses a conversation as too long is asked again with a shorter one, once; then the turn fails.",
  "COMPACT-7": "A compaction that was not asked for and fails is told as a warning, and the turn goes on.",
  "COMPACT-8": "What is said while a summary is made comes behind it.",
  "COMPACT-9": "Rollback, fork and restart around a compaction leave the history of the turns that count.",

  "REVIEW-1":
    "A review is a turn of a reviewer that sees the work and not the conversation; what it found is told as exitedReviewMode and as a message.",
  "REVIEW-2": "A review takes every target of the schema, and refuses one that says nothing.",
  "REVIEW-3": "A review cannot be steered, and is left in any case: with a result, interrupted or failed.",
  "REVIEW-4": "A detached review is an ordinary turn of a fork.",

  "MODE-1": "A collaboration mode is taken by a turn and by the settings, told, and kept over a restart.",
  "MODE-4": "An approved plan is prepared: the model reads it before the turn whose text the client gets.",
  "MODE-2": "In plan mode a proposed plan is an item of its own, and the model is given back what it said.",
  "MODE-3": "In plan mode update_plan is neither offered nor taken, and questions are asked as ever.",

  "ONCE-1":
    "Every accepted turn ends once, through interrupts, steers, disconnects, faults of the model, answers of tools and restarts.",
  "ONCE-2":
    "A host that is dropped after any commit of a turn is followed by one that comes to the same records and the same single end, or to an interrupted one where something was lost.",
} as const;
