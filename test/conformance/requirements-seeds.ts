/** What the documents that Bobbin starts from say, and no other requirement does: docs/seeds.md has every statement. */
export const seedLines = {
  "SEED-1":
    "The examples of the app-server's documentation start, resume, read, list, leave, roll back, compact and archive a thread as they are written.",
  "SEED-2": "Turns are counted by the service that their thread was started for.",
  "SEED-3": "Clients without the experimental capability are not sent `additionalPermissions` of a command.",
  "SEED-4": "A tool server whose base URL has a path is notified of closed threads below that path.",
  "SEED-5": "A search of the web is an item with its query and its action.",
  "SEED-6": "A thread that is loaded again calls no tool server before that has heard of the closing.",
  "SEED-7": "Tool servers hear of a thread whose host was killed at the next start, and not a second time.",
  "SEED-8": "A loaded thread keeps what it has bound when the configuration is written and reloaded.",
  "SEED-9": "Items have the fields that the app-server's documentation gives them.",
  "SEED-10": "Each statement of the seeds is in docs/seeds.md with a test that exists.",
} as const;
