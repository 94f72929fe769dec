/** What published clients expect of a host, though no document says so. */
export const clientLines = {
  // Before the first word.
  "CLIENT-1": "A terminal asks for account, limits and requirements first, and ends itself on any error.",
  "CLIENT-2": "Clients read the configuration without looking whether a key is there.",
  "CLIENT-3": "One value of an unknown form makes a client give up on all of the configuration.",
  "CLIENT-4":
    "A list that has nothing to show is empty, not an error; one entry a folder where it has folders.",
  "CLIENT-5":
    "Skills are read from the home, the person's folder and the repository down to the folder asked for.",
  "CLIENT-6":
    "A client that finds no provider in the configuration resumes with the reference program's own.",
  "CLIENT-11": "A permission profile that was listed can be chosen; input waits until it is told as chosen.",

  // The published ones, unmodified.
  "CLIENT-7":
    "The Codex TUI starts, talks, steers, interrupts, leaves, resumes, and none of its calls is refused.",
  "CLIENT-8": "Titles are made in ephemeral threads beside the first turn; nobody gets to see those.",
  "CLIENT-9": "codex-acp opens, prompts, streams, cancels, lists and loads.",
  "CLIENT-10":
    "ai-sdk-provider-codex-app-server generates, streams, interrupts and resumes; it declares nothing.",
  "CLIENT-13": "The Codex TUI compacts, reviews and plans.",
  "CLIENT-14": "codex-acp asks the editor about patches and commands, and does what it says.",
  "CLIENT-15":
    "The AI SDK provider changes files and runs commands where that needs no approval; one that it does not answer can be interrupted.",
  "CLIENT-20": "codex-acp uses an MCP server that the editor names, and asks the editor about its tools.",
  "CLIENT-16": "The Codex TUI asks about patches and commands, and does what the user says.",
  "CLIENT-17": "The Codex TUI shows changes with `/diff`, and runs the user's own commands with `!`.",
  "CLIENT-18":
    "The Codex TUI asks whether a folder is trusted, and its answer is kept here, with the rules of that moment.",
  "CLIENT-19": "The Codex TUI shows what a reviewer denied, and approves it with `/approve`.",
  "CLIENT-29": "The Codex TUI asks about calls of MCP servers, and fills in what servers ask.",
  "CLIENT-30":
    "The Codex TUI takes files that its user finds with `@`, for which it walks the folder by itself.",
  "CLIENT-12": "The Codex TUI shows plans, and takes the user's answers to the model's questions.",
} as const;
