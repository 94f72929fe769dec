/** What the program owes the people who install it, start it and read its messages. */
export const peopleLines = {
  "INSTALL-1": "`npm ci` installs a fresh clone, on every platform that a dependency names.",
  "DOCS-1": "The how-to pages can be followed as they stand: what they add passes the checks and its tests.",
  "DOCS-2": "The snippets of README and docs run as pasted.",
  "DOCS-3": "The table of methods in docs/methods.md is that of the program.",
  "DOCS-9": "The table of errors in docs/protocol.md is that of the program.",
  "DOCS-10": "Each quick start runs as pasted, in an empty project with the published packages.",
  "DOCS-11": "Every fenced block of README and docs is run by a test, or is listed with the reason why not.",
  "DOCS-12": "Messages, log lines and transcripts in the docs are what a real host and real commands print.",
  "DOCS-13": "Code in README and docs has the types of the published packages.",
  "DEPLOY-1": "The unit, the image and the proxy of docs/deploy.md start hosts that clients reach.",
  "DEPLOY-2": "A backup made as docs/deploy.md says restores the threads of a home.",
  "DEPLOY-3": "The Grafana dashboard names metrics and labels that a host serves, and all of them.",
  "DOCS-4": "Links and paths in the docs lead to something.",
  "START-1":
    "The banner of a host that cannot work says what is wrong with home, config.toml or model, and what to do.",
  "START-2": "Ctrl-C is answered with what is closed, and then with how that ended.",
  "START-3": "A second start on a Bobbin's port says so, with that one's home and process.",
  "START-4": "A home in which no folder can be created is refused at once.",
  "START-5": "An unknown value of LOG_LEVEL or LOG_FORMAT is warned about, with the values that are known.",

  // The console in the browser.
  "CONSOLE-1": "The console loads under 60 kB gzipped, from its own host alone, with nothing inline.",
  "CONSOLE-2": "The console starts threads, streams answers as Markdown, and lists threads live.",
  "CONSOLE-3":
    "Of two people who look at an approval in the console one answers, and the other no longer sees it.",
  "CONSOLE-4": "Questions of a model are answered in the console, and patches are shown as diffs.",
  "CONSOLE-5": "The console interrupts a running turn.",
  "CONSOLE-6": "Markup in what models, commands, tools and clients send never runs in the console.",
  "CONSOLE-7":
    "The console finds threads by text, status, folder and archive, and pages through all of them.",
  "CONSOLE-8":
    "With authentication, a link that works once lets a browser in; tickets are for one socket of one page.",

  // The packages.
  "PACK-1": "Each npm package has all that it exports and imports, a README and the licence, and no tests.",
  "PACK-2": "Installed from their tarballs in an empty project, the packages run, with their types.",
  "PACK-3": "The same holds for Node 20, 22 and 24; the client also works in Bun, Deno and a browser.",

  "PACK-4":
    "Every export of the client and of the tool-server SDK has a doc comment; functions and classes have an example that compiles.",

  "PACK-5":
    "The client waits for a host that is not there yet, and reports a gap when a host has lost records.",
  "PACK-6":
    "Threads, turns and queued inputs are started once, although the host is killed before it replies.",
  "PACK-7": "A thread that a client loads twice, by a handle or by its method, is followed once.",

  // The client package.
  "SDK-1":
    "`connect` gives handles that run, steer, interrupt and queue turns, and the thread's whole state.",
  "SDK-2": "A client whose connection breaks in mid-stream misses nothing and sees nothing twice.",
  "SDK-3": "The same holds when the host is killed and started again.",
  "SDK-4": "A thread, a turn and a queued input are started once, although their replies were lost.",
  "SDK-5": "A client can run a host of its own on stdio.",
  "SDK-6": "Questions are refused by default, and answered by callbacks that outlive a lost connection.",
  "SDK-7": "A client notices a host that stands still, and goes on when it works again: nothing comes twice.",
  "CONSOLE-9":
    "The console goes on over a kill and restart of the host: nothing is shown twice, and nothing is missing.",
  "CONSOLE-10":
    "The console steers and queues, renames, forks, archives and unloads threads, and says why one is loaded.",
  "CONSOLE-11":
    "The console shows the host: gauges, problems, servers, rules and grants, models, configuration.",
  "CONSOLE-12":
    "The console fits phones and desktops, light and dark, and axe-core finds nothing wrong with it.",
  "CONSOLE-13":
    "The console finds files behind `@` in a message, and sends those that were chosen as mentions.",
  "CONSOLE-14":
    "The console runs commands and skills that are typed behind `/`, and sends none that it does not know.",
  "CONSOLE-15":
    "The console shows the goal of a thread with its state and budget, sets, pauses and clears it.",
  "CONSOLE-16":
    "The console undoes turns and what they changed in files, and says before and after what that is.",
  "CONSOLE-17": "Pictures that are pasted into a message of the console reach the model, and are shown.",
  "CONSOLE-18":
    "Messages queued in the console are moved, taken back, removed and sent, and every window shows the same.",
  "CONSOLE-19":
    "The console shows plans and reasoning; its lists, goals and dialogs fit phones, light and dark.",
  "CONSOLE-20":
    "thread/journal/read gives the records of a thread page by page, filtered, with what was sent because of them, and loads nothing.",
  "CONSOLE-21":
    "turn/timeline/read gives what a turn spent its time with: model calls, tools, waits and questions, with tokens and known costs.",
  "CONSOLE-22":
    "The console shows the timeline of any turn, live, failures first, with tokens, and with costs where prices are set.",
  "CONSOLE-23":
    "The console shows a thread's records as far as somebody scrolls, filtered, with their JSON and what was sent, and new ones by themselves.",
  "CONSOLE-24":
    "Timelines and journals fit phones and desktops, light and dark; axe-core finds nothing, and hostile text stays text.",
  "CONSOLE-25":
    "The console groups threads by sections, which are created, renamed, folded and deleted there.",
  "CONSOLE-26":
    "The host's own user sees the owner of each thread and lists those of one owner; a subject sees neither.",
  "CONSOLE-28":
    "server/setup/read and the console say where providers' keys come from, what confines commands, and what is wrong in config.toml.",
  "CONSOLE-29":
    "Rules, approvals of MCP tools and grants of every loaded thread are revoked in the console, and do not count afterwards.",
  "CONSOLE-30":
    "server/hosts/list and the console name the hosts of a home; the console shows problems of the host's log, also old ones.",
  "CONSOLE-27": "Each loaded thread shows about how much memory it takes, in the console and in bobbin ps.",

  "CONSOLE-31": "A thread opened in the console loads under 60 kB, too, and assets are served compressed.",
  "CONSOLE-32": "A running answer is parsed at its end only, and looks as if it had come at once.",
  "CONSOLE-33": "Forms of MCP servers are filled in or declined in the console.",
  "CONSOLE-34": "The console shows each permission that a model asks for, and gives it or not.",
  "CONSOLE-35":
    "The console shows calls of MCP servers and tool servers with arguments and results, and links to helpers.",
  "CONSOLE-36": "A link that is expired, wrong or used, and a session that has ended, lead to `bobbin open`.",
  "CONSOLE-37": "The console lists, scrolls through and searches a home with 100,000 threads.",
  "CONSOLE-38":
    "Markup in what models, MCP servers, tool servers, clients and the configuration send or name is text in the console.",
  "CONSOLE-39":
    "From a clone to the first approval that is answered in the browser, a newcomer needs `npm start` and no key.",
  "CONSOLE-41":
    "Sections that one person creates, renames, fills or deletes change in every browser by themselves.",
  "CONSOLE-42": "Threads are ordered within a section by keys and by a dialog, for everyone.",
  "CONSOLE-43":
    "Code in messages and patches has colours in the console; long code is plain, and markup stays text.",
  "CONSOLE-44":
    "The list of threads says in the row of each loaded thread why it is loaded, and about how much memory it takes.",
  "CONSOLE-45": "The console shows the output of a command while it runs, and its exit code at the end.",
  "CONSOLE-46":
    "The console asks about calls of tools with their arguments, and allows them once, for the session or for good.",
  "CONSOLE-47": "The console keeps the end of a conversation in sight, unless somebody has scrolled up.",
  "CONSOLE-48":
    "Pictures of tools and files are shown in the console if they are small and of a known type, and never as a document.",
  "CONSOLE-49": "Keys go to the search, begin a thread, and move through the console's list and menus.",
  "CONSOLE-50":
    "Approvals of commands, input and connections are given in the console once, for the session or for good, or end the turn.",
  "CONSOLE-40":
    "The first message of a thread has `@` for files and `/` for skills, of the folder that is chosen for it.",

  // One turn in the terminal.
  "CLI-1": "`bobbin exec` leaves the threads of a host that was killed to the next host.",
  "CLI-2": "`bobbin exec` talks to a real model with nothing but a key and the provider's name.",
  "CLI-3":
    "`bobbin exec -m` asks the named model, at the provider that its name implies, or says why it cannot.",
  "CLI-5": "`bobbin exec` asks for approvals and answers on the terminal, if somebody is there.",
  "CLI-6": "`bobbin exec` declines at once what needs approval where nobody is there, and names the flags.",
  "CLI-7": "`bobbin exec --json` prints commands and file changes as the Codex CLI does.",
  "CLI-8": "`bobbin exec --add-dir` adds a folder to the workspace, where commands and patches may write.",
  "CLI-9":
    "`bobbin exec --resume` and `--last` go on with a thread, also with one that a running host has loaded.",
  "CLI-10":
    "`bobbin exec` checks the answer against `--output-schema`, and the file of `-o` before the turn.",
  "CLI-11":
    "`bobbin exec resume` and `fork` go on with the thread that they name; other words of a command line are never sent as a prompt by mistake.",
  "CLI-12":
    "`bobbin exec` takes the options, and prints the events, that scripts and the TypeScript SDK know of `codex exec`.",
  "CLI-4":
    "`bobbin exec` says what it decided in the user's place (approvals, questions, authorizations), and which flag changes it.",

  // Threads in the terminal.
  "TERM-1":
    "Commands use the host that runs on the home, whatever it requires of others; with -c one of their own.",
  "TERM-2": "A host's socket for commands ends with it; that of a host that was killed does no harm.",
  "TERM-3":
    "`bobbin threads` lists, finds, shows, renames, archives, deletes and forks threads, with a host that runs and without one.",
  "TERM-4": "`bobbin ps` and `bobbin threads unload` say what keeps a thread loaded.",
  "CHAT-1":
    "`bobbin chat` talks turn after turn; `--resume` goes on, shows earlier turns and has them in its history.",
  "CHAT-2": "`bobbin chat` asks for approvals and answers in place, and shows the diffs of other changes.",
  "CHAT-3": "Ctrl-C interrupts the turn of a chat; at the prompt it drops what is typed, and then leaves.",
  "CHAT-4": "Lines that are pasted into a chat are one message.",
  "CHAT-5": "Control characters of a model are shown as signs in a chat.",
  "CHAT-6": "A chat on a host that runs shows what other clients do in its thread.",
  "CHAT-7": "Without a terminal, `bobbin chat` takes lines from stdin and writes answers to stdout.",
  "CHAT-8":
    "A chat goes on over a restart of its host: it shows what it missed once, sends what was typed once, and gives up in time.",
  "OPEN-1":
    "`bobbin open` opens the console of the running host in a browser, or prints a link that works once.",
  "LOG-1": "A host logs one line for a connection, for a turn and for its end, without text of people.",
  "TERM-5":
    "Lists fit the terminal, control characters of others are shown as signs, and deleting asks first.",
  "TERM-6": "`bobbin tools` shows the arguments of tools.",
  "TERM-7":
    "`server/logs/read` sends the host's user the last log lines, page by page, and none of the host's secrets.",
  "TERM-8":
    "`bobbin logs` shows the last log lines of all hosts of the home, and follows them over a restart.",
  "TERM-9":
    "`bobbin tools call` calls a tool of an MCP server or a tool server, with a host that runs and without one.",
  "TERM-10": "If several hosts run on a home, commands use the one that has the thread loaded.",
} as const;
