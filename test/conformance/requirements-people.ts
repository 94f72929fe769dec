/** What the program owes the people who install it, start it and read its messages. */
export const peopleLines = {
  "INSTALL-1": "`npm ci` installs a fresh clone, on every platform that a dependency names.",
  "DOCS-1": "The how-to pages can be followed as they stand: what they add passes the checks and its tests.",
  "DOCS-2": "The snippets of README and docs run as pasted.",
  "DOCS-3": "The README's table of methods is that of the program.",
  "DOCS-4": "Links and paths in the docs lead to something.",
  "START-1":
    "The banner of a host that cannot work says what is wrong with home, config.toml or model, and what to do.",
  "START-2": "Ctrl-C is answered with what is closed, and then with how that ended.",
  "START-3": "A second start on a Bobbin's port says so, with that one's home and process.",
  "START-4": "A home in which no folder can be created is refused at once.",
  "START-5": "An unknown value of LOG_LEVEL or LOG_FORMAT is warned about, with the values that are known.",

  // One turn in the terminal.
  "CLI-1": "`bobbin exec` leaves the threads of a host that was killed to the next host.",
  "CLI-2": "`bobbin exec` talks to a real model with nothing but a key and the provider's name.",
  "CLI-3":
    "`bobbin exec -m` asks the named model, at the provider that its name implies, or says why it cannot.",
  "CLI-5": "`bobbin exec` asks for approvals and answers on the terminal, if somebody is there.",
  "CLI-6": "`bobbin exec` declines at once what needs approval where nobody is there, and names the flags.",
  "CLI-7": "`bobbin exec --json` prints commands and file changes as the Codex CLI does.",
  "CLI-4":
    "`bobbin exec` says what it decided in the user's place (approvals, questions, authorizations), and which flag changes it.",
} as const;
