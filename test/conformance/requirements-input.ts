/** What comes in by name, waits, or goes on by itself. */
export const inputLines = {
  // The same again.
  "SAME-1": "Input with a name that was taken before is answered as then, and starts nothing.",
  "SAME-2": "The name of input that was refused is free: a failed steer's may be a turn's.",
  "SAME-3": "A name that was taken stays so after the turn's end, a wake and a restart.",
  "SAME-4": "A name comes back with its message.",
  "SAME-5":
    "A thread/start with a key that was used before gives the thread of then, loaded, and starts none.",
  "SAME-6":
    "A key holds after a restart and a kill, among hosts of one home, and until its thread is deleted.",
  "SAME-7": "A key is its owner's: another one's is another.",

  // What waits.
  "QUEUE-1":
    "Queued input keeps its ids and its place when it is changed; every change is told, and lists page.",
  "QUEUE-2": "A turn that ends, well or not, is followed by the first in the queue, under its own name.",
  "QUEUE-3":
    "An interrupt keeps the queue and stops it, over resumes and restarts, until someone starts one of it.",
  "QUEUE-4": "An idle thread starts queued input at once; one that is not loaded, once it is resumed.",
  "QUEUE-5": "A queue has bounds, and what it cannot do is refused in the words that clients match.",
  "QUEUE-7": "A submission has the metadata of its client, over changes that bring none and over a restart.",
  "QUEUE-6": "A queued turn begins although nobody follows the thread any more.",

  // What goes on by itself.
  "GOAL-1":
    "A goal is set, changed, read and cleared, loaded or not; what it cannot be is refused in known words.",
  "GOAL-2": "An active goal goes on by itself, turn after turn, until the model or someone ends it.",
  "GOAL-3": "Tokens and seconds of its turns are counted; at its budget it stops, and the model is told.",
  "GOAL-4":
    "An interrupt stops it until it is set active or the thread is resumed; it stays active all the while.",
  "GOAL-5": "A turn that fails blocks it; one that fails at a usage limit makes it usageLimited.",
  "GOAL-6": "Turns that begin by themselves and call no tool are at most ten in a row.",
  "GOAL-7": "Whoever resumes a thread is told its goal, or that it has none.",
  "GOAL-8": "A fork takes the goal only if asked to, and goes on with it after its first turn.",

  "GOAL-10": "It starts no turn in Plan mode, and goes on when that mode is left.",
  "GOAL-9": "A thread with a goal and no message is listed and found by what it is for, also cold.",

  // What a provider says besides its answer.
  "NEWS-1":
    "What a provider says about an account's limits is told to those who follow the thread, and can be read.",
  "NEWS-2": "A provider that answers with another model than was asked for is told once a turn, and kept.",
  "NEWS-3": "A model of which nothing is known is warned of at each turn, unless its window is configured.",
  "NEWS-4": "Effort, summary, verbosity and window come from config.toml, or from a request's own config.",
  "NEWS-5":
    "The service tier goes by the provider's name for it; null takes it back; one that the model lacks is not sent.",

  // What clients write into config.toml.
  "CONF-1": "A value that is written is in config.toml, and all that people wrote around it is as it was.",
  "CONF-2": "Edits are made all or none; what cannot be configured is refused, and so is another file.",
  "CONF-3": "A write on an older version is refused; one that the command line overrides says so.",
  "CONF-4": "Threads that start after a write use what it says, new providers included.",
  "CONF-5": "What the peer takes in config.toml is taken, older words included.",
  "CONF-6":
    "Clients are warned of a config.toml that cannot be used, a folder included; no thread is loaded then.",
  "CONF-7":
    "Sandbox, permissions and who reviews approvals come from the configuration, unless a request says more.",
  "CONF-8": "Instructions that are configured, and how files of them are looked for, are bound at each load.",
  "CONF-9": "What is taken otherwise than it was written, and a rules file with a mistake, are warned about.",

  // Files that users show.
  "FILE-1":
    "A picture or sound that input names is kept as it was then: the model sees that, whatever becomes of the file.",
  "FILE-2":
    "What is kept goes with the thread: to the archive and back, into forks, and away with its deletion.",
  "FILE-3":
    "Input that waited is kept as it is when its turn begins; a file that cannot be shown is said in words.",
} as const;
