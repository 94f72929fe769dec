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
} as const;
