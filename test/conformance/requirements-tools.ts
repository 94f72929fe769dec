/** Tools, and what clients are asked for them. */
export const toolLines = {
  // Tools that live in the client.
  "DYN-1": "A dynamic tool call is told, asked, answered, resolved and completed, in that order.",
  "DYN-2":
    "Dynamic tools are offered to the model with their namespaces; deferred ones are not shown, and can be called.",
  "DYN-3": "Tools with bad names, schemas or namespaces are refused when they are offered.",
  "DYN-4": "A tool that fails, or an answer that cannot be read, goes back to the model as a failure.",
  "RAW-1":
    "`experimentalRawEvents` of `thread/start` yields `rawResponseItem/completed` for each item of the conversation.",
  "DYN-7": "A search finds deferred dynamic tools, as it finds MCP tools that are not listed.",
  "DYN-6":
    "A dynamic tool gets arguments with the numbers that the model wrote, on every connection and after a restart.",
  "DYN-5": "A client that is gone in the middle of a call can come back, resume and answer.",

  // Programs that clients run by themselves.
  "PROC-1": "`process/spawn` replies when the program runs; its exit is notified with its output.",
  "PROC-2": "A client's program can be streamed, written to and resized, on pipes or on a terminal.",
  "PROC-3": "A client's program has limits of time and output, and is killed with all that it started.",
  "PROC-4": "A client's program gets the host's environment without the host's secrets.",
  "PROC-5": "A `process/*` request that makes no sense is refused with a code of its own.",
  "PROC-6": "A client's program ends with its connection, and no other connection can reach it.",
  "PROC-7": "A client's program ends with the host.",
  "SANDBOX-1":
    "Under read-only a command writes nothing; under workspace-write only to the folders that its policy names.",
  "SANDBOX-2": "No command sees the home of the host, but for the outputs of its own thread.",
  "SANDBOX-3":
    "Where commands cannot be confined, none runs in silence: the reason and what to do about it are given.",
  "SANDBOX-4": "Each listed way out of the sandbox is refused, as root and as another user.",
  "SANDBOX-5": "Plain git commands change their repository, and not what names the programs that git runs.",
  "SANDBOX-6":
    "What changed although it is protected is reported, the host changes nothing, and git asks from then on.",
  "SANDBOX-7":
    "Files that hold places in a repository go with the last command that needs them, or with the next host.",
  "SANDBOX-8":
    "A permission profile that somebody wrote is enforced, for reading and writing; without it nothing runs.",
  "SANDBOX-9":
    "A git command that changes what is protected of its repository asks to run outside of the sandbox.",
  "SANDBOX-10":
    "What was checked is what a command gets: nothing that took its place is mounted, and no folder on the way can.",
  "SANDBOX-11":
    "No command makes a repository at the root of a workspace, or changes a folder of hooks, there or not.",
  "SANDBOX-12":
    "No command makes or changes what the user's git finds in a workspace, its writable parents and nested repositories.",
  "SANDBOX-13":
    "Whatever a model does with nobody who approves: nothing outside is changed, nothing hidden is read, nothing is left.",
  "NETWORK-1":
    "A command with the network by host reaches hosts that are allowed, through the proxy, and nothing past it.",
  "NETWORK-2": "A command waits while one question is asked for all of its connections to a host.",
  "NETWORK-3":
    "What was decided about a host counts as it was answered: once, for the session, or for good in the rules file.",
  "NETWORK-4": "A question about a host ends before its turn does, and with the command that it belongs to.",
  "NETWORK-5":
    "Addresses of this machine and its networks are refused, however they are written, unless listed themselves.",
  "NETWORK-6":
    "A command with the network by host keeps its exit code, its signals, its input and its terminal.",
  "OWN-1":
    "A process that a host started, or one that this started, cannot connect to a host; known processes of the user can.",
  "OWN-3":
    "Where the system does not say who connects to a listener without a token, commands with network ask.",
  "OWN-2":
    "A loopback listener without authentication serves the host's own user only, where the system says who connects.",
  "OWN-4":
    "A listener without authentication shows /metrics and /status to those whom it serves as clients only.",
  "PROC-8": "A client that does not read slows its program down, and nobody else.",
  "PROC-10":
    "After the end of a host, also by SIGKILL, no process that it started is left, nor one that these started.",
  "PROC-11": "What a host and its watchdog left running is ended by the next start on the same home.",
  "PROC-12": "Ending a program, or its owner, also ends what it started in sessions of their own.",
  "PROC-15": "Clients can run a limited number of programs, each of them and all together.",
  "PROC-14": "Where a machine has no terminals, programs that ask for one run on pipes, and that is said.",
  "PROC-13": "A command is asked to end before it is killed, so that it can tidy up.",
  "EXEC-17":
    "A command that writes without pause costs the host little, and a client that reads slowly still gets the output's end.",
  "EXEC-16": "A command whose item was lost with a damaged part of the journal still has one for clients.",
  "PROC-9": "The output that a program wrote before its exit reaches its client, however slowly it is read.",

  // The environment of commands.
  "ENV-1": "A model's command gets no variable that the host itself uses.",
  "ENV-2": "A model's command gets no variable with the name of a secret, unless it is allowed.",
  "ENV-3": "A model's command gets what the policy sets, and what a request changes, whatever the names.",
  "ENV-4": "A model's command gets the environment that the user's login shell sets up.",
  "ENV-5": "`bobbin doctor` names the variables that commands do not get, and the line that passes them on.",

  "CMD-1": "`command/exec` replies with exit code and output when the command has ended.",
  "CMD-2":
    "`command/exec` streams, takes input and has a terminal if asked; its reply comes after all of its output.",
  "CMD-3": "`command/exec` has a time limit (exit code 124) and an output cap, and `terminate` gives 137.",
  "CMD-4":
    "A client's command gets the environment without secrets, and the folder of the host unless it names another.",
  "CMD-5": "A `command/exec` request that makes no sense is refused in the words that clients know.",
  "CMD-6": "A client's command ends with its connection, and no other connection can reach it.",
  "CMD-7":
    "The output of a command that is not streamed is held up to a bound, whatever the client asks for.",
  "CMD-8":
    "A client's command is confined by the configuration, or by the policy or profile that the client names.",
  // Commands.
  "EXEC-1": "A command of the model runs, its output is shown while it runs, and the model gets it.",
  "EXEC-2": "A command that fails or cannot be started has a failed item, with exit code or reason.",
  "EXEC-3": "A command gets neither the host's secrets nor variables that look like one.",
  "EXEC-4":
    "A long output is cut in the middle for the model, and whole in a file that goes with the thread.",
  "EXEC-5": "An interrupt ends a command and all that it started, and its item completes before the turn.",
  "EXEC-6":
    "A command that outlives its call takes input, and its item completes with the id of its own turn.",
  "EXEC-7": "Background terminals are listed, terminated and cleaned, and the model hears of it.",
  "EXEC-8":
    "Background terminals keep a thread neither loaded nor in memory. They end with their thread, and with their host.",
  "EXEC-9": "A command that is lost with its host completes at the next load, and the model hears of it.",
  "EXEC-10": "A user's command has a turn of its own or joins the running one, and the model hears of it.",
  "EXEC-11": "Items of commands complete once and no process is left, whatever happens to thread and host.",
  "EXEC-12":
    "A command in the sandbox writes where its thread may, sees nothing of the home, and reads cut outputs.",
  "GRANT-1":
    "What a person allowed for the session is listed in words, outlives a restart, and is revoked for the next decision.",
  "GRANT-2":
    "A revocation is durable before clients see it, and clients that follow the thread are notified.",
  "EXEC-13": "A command that only applies a patch is applied as one.",
  "EXEC-18":
    "The results of `exec_command`, `write_stdin` and `apply_patch` have the form that models know from the Codex CLI.",
  "EXEC-14":
    "`apply_patch` is a program for commands: a patch between other commands is applied in their sandbox.",

  // Questions about commands.
  "RECORDED-1":
    "Each recorded case of the Codex CLI has the same order of items, questions and ends, for every client of the thread.",
  "APPROVE-1": "A command is shown, then asked about, and the answer is resolved before the item completes.",
  "APPROVE-2": "An interrupt resolves the question and completes the item before the turn.",
  "APPROVE-3": "What was accepted for the session is not asked about again; anything else is.",
  "APPROVE-4": "What was accepted for good becomes a rule, if it was offered.",
  "APPROVE-5": "The first answer wins, and the question vanishes for the others.",
  "APPROVE-6": "A question outlives its host, with the same id, and the command runs once.",
  "APPROVE-7": "Where nobody is asked, what would ask is refused with a reason and without an item.",
  "APPROVE-8": "What was accepted for the session counts for exactly that command, also after a restart.",
  "APPROVE-9": "A question that nobody is there to answer is declined in words that the model understands.",
  "APPROVE-10":
    "A command that removes files with force or recursion is asked about, and no rule is offered.",
  "APPROVE-11": "Under `untrusted` every command that no rule allows is asked about.",
  "APPROVE-12": "A command that a rule forbids never runs, wherever it stands in the text.",
  "AUTOREV-1": "With auto review a model judges what a person would be asked, in the recorded order.",
  "AUTOREV-2": "What the reviewer denies is not done, and the model hears why and what it may do instead.",
  "AUTOREV-3": "The reviewer is shown a policy, the exact action, and who said what; it has no tools.",
  "AUTOREV-4": "The reviewer's tokens are part of the thread's total and take no room in its context.",
  "AUTOREV-5": "A turn ends after three denials in a row.",
  "AUTOREV-6": "An interrupt aborts the review and completes the item before the turn.",
  "AUTOREV-7": "A reviewer that fails or answers anything but a verdict denies, after at most three calls.",
  "AUTOREV-9":
    "Patches, permissions, input to processes and calls of tool servers are judged in the same way.",
  "AUTOREV-10": "After a crash a review that had not ended starts again; one that had ended is not repeated.",
  "AUTOREV-11": "A review that takes longer than 90 seconds denies.",
  "AUTOREV-12":
    "Who grants permissions for a turn can have a model judge all commands and patches of that turn.",
  "AUTOREV-13": "`bobbin exec --approve-for-me` has a model judge, and says what it decided.",
  "AUTOREV-14": "A host that a command connects to is judged once, while the command waits.",
  "AUTOREV-8": "What the reviewer denied is done once, exactly as it was, after a person approved it.",
  "APPROVE-14":
    "Input to a command outside of the sandbox is asked about with its text, unless allowed for that command; looking and Ctrl-C are not.",
  "APPROVE-13": "Rules allow nothing to a program that the model names as the shell.",

  // More than the sandbox gives.
  "PERMIT-1": "Granted permissions count for the turn or the session, and for nothing else.",
  "PERMIT-2": "An empty grant refuses, and an answer grants nothing that was not asked for.",
  "PERMIT-3": "Only what is missing is asked for, and the home of the host is never given away.",
  "PERMIT-4": "request_permissions is offered where there is a sandbox and somebody may be asked.",
  "TRUST-1": "Trust in a folder sets policy and sandbox of new threads where people chose none.",
  "TRUST-2":
    "Rules of a project allow with the content that a person trusted; a change is warned of, with what to do.",
  "TRUST-3": "`exec` asks once whether a folder with rules of its own is trusted, and remembers the answer.",
  "PERMIT-5":
    "A command that asks for additional permissions is asked about with them, and runs in the sandbox widened by just these.",

  "ENV-6":
    "The model is told which variables its commands do not get, and people once, with the line to add.",
  "ENV-8": "The user's profile is run for a model only where it can change nothing.",
  "ENV-9": "Without SHELL commands run in the shell that the list of users names.",
  "ENV-10": "People are warned once when the login shell does not give its environment.",
  "ENV-11": "A user's command gets every variable of the user except those that the host itself uses.",
  "ENV-7": "A program that a model names as its shell never runs outside of the sandbox.",

  // Patches.
  "PATCH-1": "A patch within what may be written is applied without asking, and shown with its diffs.",
  "PATCH-2": "A patch moves and deletes files, and follows a link to the file that it names.",
  "PATCH-3":
    "A patch that does not fit changes nothing, and the model gets the file, the line and what is there.",
  "PATCH-4": "A patch beyond what may be written is asked about: started, asked, resolved, completed.",
  "PATCH-5": "A patch that was accepted for the session is not asked about again for the same files.",
  "PATCH-6": "A declined patch ends `declined`; `cancel` ends the turn as well.",
  "PATCH-7": "An interrupt completes a patch that waits for its approval before the turn's end.",
  "PATCH-8": "Where nobody may be asked, a patch is refused in words for the model.",
  "PATCH-9": "No patch leaves the writable folders by a link or by `..`, nor changes `.git`.",
  "PATCH-10": "A patch is asked about in a read-only sandbox, and always for the policy `untrusted`.",
  "PATCH-11": "A patch over several files is whole after a crash and the next start.",

  "PATCH-13":
    "After a kill at any step of a patch the next host makes every file new; a full disk at any step leaves all as they were, or the model gets the names of those that are new.",
  "PATCH-14": "A moved file keeps its mode, and a link to a patched file stays a link.",
  "PATCH-15": "Patches come to what their fixtures say, and to what a simple reference makes of them.",
  "PATCH-17":
    "A patch of a thread with a permission profile changes unasked only what the profile lets write.",
  "PATCH-12": "A command that only applies a patch, in a folder or not, is a call of the patch tool.",
  "PATCH-16":
    "A patch shows the model nothing of files that its commands would not see, and replaces none of them.",
  "PATCH-18":
    "A patch is applied in the folders that were judged, whatever is put in their place meanwhile, or not at all.",
  "PATCH-20": "A patch does not make the working folder again after it was removed.",
  "PATCH-19": "An approved patch changes the files that were shown, from and to the content that was shown.",

  // What a turn changes in files.
  "DIFF-1": "After each patch and before the turn's end, clients are sent what the turn has changed so far.",
  "DIFF-3":
    "In a git repository the diff shows what commands changed, too, and the repository stays as it is.",
  "DIFF-4": "Making the diff runs nothing that a repository names, and reads nobody else's.",
  "DIFF-5": "The diff is bounded in size and time, and says what is not in it.",
  "DIFF-7":
    "Git that the host runs is confined: it reads what the thread's owner may read, and writes to its own folder alone.",
  "DIFF-6": "After an interrupt clients are sent what the turn has changed until then.",
  "DIFF-2": "A diff that a client missed is sent again with the other notifications that it missed.",

  // Undoing what turns changed in files.
  "UNDO-1":
    "`thread/files/restore` makes the files that turns changed what they were before, and changes no other.",
  "UNDO-2": "A file that was changed since is not overwritten, unless that is asked for.",
  "UNDO-3":
    "Nothing outside of the workspace's folders is written, nor in `.git`, `.bobbin`, `.codex`, `.agents` and the home, nor where a subject may not write.",
  "UNDO-4":
    "What cannot be restored is named, with the reason; so is what a restore would do, if it is asked for.",
  "UNDO-5": "`thread/revert` restores files if it is asked to; during a turn nothing is restored.",
  "UNDO-6":
    "Whenever the host dies in a restore, each file is old or new, and the next restore does the rest.",

  // Questions to clients.
  "ASK-1":
    "The first answer counts, later ones are ignored, and all subscribers are told that it is resolved.",
  "ASK-2": "Only subscribers are asked, and only they can answer.",
  "ASK-3":
    "A pending question is sent again, under the same id, to whoever resumes; also after a restart or a kill.",
  "ASK-4": "An interrupt, or an unload, clears what is asked: it is told resolved before the turn's end.",
  "ASK-5": "While the user is asked, the thread's status says so.",
  "ASK-6": "A client that cannot answer leaves it to others; when none is left, the model is told.",
  "ASK-7": "With nobody there to answer, the deadline declines and the turn goes on to its end.",
  "ASK-8": "request_user_input asks the user, blocking, and gives the answers to the model.",
  "ASK-9": "A host that shuts down leaves a turn that waits as it is, and the next one goes on with it.",
  "ASK-10": "What a user says while tools are at work reaches the model behind their answers.",
  "ASK-11": "A turn that waits for an answer hibernates, and goes on when it comes.",
  "ASK-12": "turn/start while a question is open adds to the running turn, and the question stays open.",
  "ASK-13": "A turn that takes the place of one that asked clears the question: it is resolved first.",
  "ASK-20": "An answer survives a power cut before serverRequest/resolved is sent.",

  // What the model does by itself.
  "PLAN-1": "update_plan is told as turn/plan/updated.",
  "VIEW-2": "view_image shows no file that a command of the thread would not see.",
  "VIEW-1": "view_image shows the model a picture on every wire, as an imageView item, or says why not.",
  "CALL-1": "A call of no tool, or with bad arguments, is answered with what is wrong, and the turn goes on.",
  "CALL-2": "Calls of one answer run side by side, and the model is asked again when all are settled.",
  "CALL-3": "A call id that the model has used before is made unique.",
} as const;
