export const importLines = {
  "IMPORT-1":
    "`externalAgentConfig/detect` offers what is left to import, of the home and of the repositories that are named, and nothing else.",
  "IMPORT-2":
    "`externalAgentConfig/import` replies with an id, then sends a progress notification for each item, then `completed` with all results in the order of their types.",
  "IMPORT-3":
    "An import overwrites nothing: an `AGENTS.md` with a text in it, values, comments and servers in config.toml, skills and roles stay as they are. A second import changes no file.",
  "IMPORT-4": "Each item succeeds or fails by itself; a failure names the file and what is wrong with it.",
  "IMPORT-5":
    "Imports are remembered, also those that a client has done itself, and the last one is read first.",
  "IMPORT-6": "A repository cannot lead an import to files elsewhere by links.",
  "IMPORT-7": "Hooks, commands and sub-agents become hooks, skills and roles of helpers.",
  "IMPORT-8":
    "Rollouts of the Codex CLI, of the first layouts, the later ones and compressed ones, become threads that are listed, read, searched, resumed and forked.",
  "IMPORT-9":
    "Sessions of Claude Code become threads with the turns on their main line, without branches that were left and without what helpers did.",
  "IMPORT-10":
    "A session is there as a whole thread or not at all, wherever a crash interrupts its import, and the next import brings the rest, each session once.",
  "IMPORT-11":
    "`bobbin import` shows what it would do, imports, names files that cannot be read and skips them.",
  "IMPORT-12": "Homes in the layouts of real ones are imported with the same result as ever, twice.",
  "IMPORT-14":
    "The progress bar of `bobbin import` fits into the terminal, grows, is gone at the end, and is not shown elsewhere.",
  "IMPORT-15": "Imports into one home that run at once bring everything once, and whole.",
  "IMPORT-13": "Thousands of sessions are imported in one go within a bounded memory.",
} as const;
