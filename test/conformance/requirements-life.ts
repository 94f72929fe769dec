/** The life of a thread: journal, index, load, unload, close. */
export const lifeLines = {
  // Coming to be loaded.
  "LIFE-1": "thread/start honours what it is asked for, and is answered before thread/started is told.",
  "FEEDBACK-1": "feedback/save writes a report to a new file, with what was chosen and without secrets.",
  "FEEDBACK-2": "feedback/upload keeps a report in the home, and sends it where that is configured.",
  "FEEDBACK-3": "bobbin feedback makes a report from the command line.",
  "OLDER-1": "getConversationSummary describes a thread by its id or by its journal's path.",
  "OLDER-2":
    "gitDiffToRemote shows what a working tree has that no remote has, and leaves the repository alone.",
  "OLDER-3":
    "windowsSandbox/setupStart is answered, and completes without success where there is no Windows.",
  "SHAPE-1": "Usage on a model that is not known has the window that is assumed of it.",
  "SHAPE-2": "A model that is not known is warned of before the reply that starts a turn.",
  "SHAPE-3": "A short sandbox policy is filled up, and changes no settings where it says what holds already.",
  "SHAPE-4": "Loading and unloading a thread leave its times and its file's as they were.",
  "LIFE-2": "Every field of a thread is filled honestly; its journal's path says when it was made.",
  "LIFE-3": "An ephemeral thread has no path, is not listed, and is gone after its unload.",
  "LIFE-4": "Commit, branch and origin are read from the files of the repository, worktrees included.",
  "LIFE-5": "The preview is the first user message; only turns touch updatedAt.",
  "LIFE-6": "A cold resume tells idle before its reply; a warm one tells no status.",
  "LIFE-7": "thread/resume gives all turns, none, or a page, and the places to go on from.",
  "LIFE-8": "A resume of a running thread shows the turn, and none of its text is missed.",
  "LIFE-9":
    "A resumed thread runs on what the request says, else on what it used last, else on the configuration.",
  "LIFE-10": "A thread without a user message or a goal is not listed, but can be read and resumed.",
  "LIFE-11": "A fork has the turns up to a point, with their ids; its origin is not touched.",
  "LIFE-15": "A fork has what clients put into the history, where it stands, up to its point.",
  "LIFE-16":
    "A fork works where its origin does and asks whom it asks; its model and sandbox are those of a new thread.",
  "LIFE-12": "A fork of a running thread leaves it running, and has nothing under way itself.",
  "LIFE-13": "thread/read loads nothing, tells nothing and writes nothing.",
  "LIFE-14": "Threads that are not there are refused in the words that clients match, with a code.",
  "LIFE-18":
    "Instructions of a workspace (`AGENTS.md`) are read behind a link, unless it leads into the host's home, to the kernel, or to what the thread's profile hides.",
  "PLACE-1":
    "A thread has the workspace and the environment that were asked for; one that is not there is refused.",
  "PLACE-2": "A request with a permission profile in the old form is refused, not taken without it.",
  "LIFE-19": "Requests for a thread that is still being created wait until it is there.",
  "LIFE-17":
    "Requests that contradict themselves, or name what is not there, are refused in the peer's words.",
  "PATH-1": "A thread is resumed and forked by the path that clients were told; another one is refused.",
  "PATH-2": "A history that a client kept by itself starts a thread of its own, never one that is loaded.",

  // Lists and pages.
  "LIST-15":
    "thread/searchOccurrences finds each place where a text is said in a thread, whatever the case: in what users said, in parts of answers and in each turn's answer, as people see them; with the text around it and a cursor for its turn.",
  "LIST-16":
    "Occurrences come in pages that give each exactly once; a cursor of another thread or another text is refused.",
  "LIST-18":
    "The first list of a host after a crash, or on a home that cannot be written to, shows what the dead host wrote last.",
  "LIST-17": "A search in a long thread holds up nobody else.",
  "ENVIRONMENT-1": "The environment `local` is ready; its shell and folder are those of the host.",
  "ENVIRONMENT-2": "There is no environment but `local`: others are unknown, and none can be added.",

  "READ-1":
    "A turn that came to a result is unread: the first of them is sent to those who follow the thread, before the turn's end, and shown by thread/read and thread/list.",
  "READ-2":
    "A thread is marked as read or unread upon the revision that the person has seen; any other is refused, with the state as it is.",
  "READ-3":
    "A failure and the result of a review are unread; a turn without an answer, one that was interrupted, a summary and a command of the user's own are not.",
  "READ-4":
    "What is unread outlives a kill, a restart, an archive and a lost index; a revert takes back what it drops, and a fork begins anew.",
  "READ-5": "Ephemeral threads and children have no read state.",

  "LIST-1": "thread/list sorts by each of its keys, both ways.",
  "LIST-2": "Pages of a list give each thread exactly once.",
  "LIST-3": "A list goes back from a page, beginning with its first thread, and finds what is new.",
  "LIST-4": "A list is filtered by folder, provider, source, archive, text and family.",
  "LIST-5": "A list has a limit, refuses what is no cursor of its order, and shows threads as they are now.",
  "LIST-6": "Another host on the same home lists the same.",
  "LIST-7": "thread/search finds what was said and is not rolled back.",
  "LIST-8": "thread/loaded/list names what is loaded, in pages.",
  "LIST-9": "thread/turns/list gives each turn exactly once, both ways.",
  "LIST-10": "A turn is shown with as many items as were asked for.",
  "LIST-11": "thread/items/list gives each item exactly once, both ways, or those of one turn.",
  "LIST-12": "Pages stay what they are while turns come and go.",
  "LIST-13": "A page cursor of another thread is answered, and never logged as damage of the journal.",
  "LIST-19":
    "thread/items/list of a turn leaves out the outputs that the client defers, and thread/items/read has them.",
  "LIST-14":
    "thread/items/read gives up to 100 items of one turn by their ids, in the turn's order; what is not there is left out.",

  // Threads that another host on the same home has loaded.
  "HELD-1": "A thread that another host has loaded is shown with that host's id.",
  "HELD-2": "Whoever needs such a thread loaded is refused with the name of the host that has it.",
  "HELD-3": "A host that has unloaded a thread, or is gone, is not named any more.",
  "HELD-4": "Who may not see a thread does not learn that it is loaded elsewhere.",

  // The machine's clock.
  "CLOCK-1": "Times within a thread do not go back when the clock is set back, and no duration is negative.",
  "CLOCK-3": "The duration of a command is the time that its program ran.",
  "CLOCK-2": "A clock that was wrong by years leaves its mark on what happened then, and on nothing later.",

  // Changing a thread.
  "EDIT-1": "A thread is named whether it is loaded or not, and stays so; everyone is told after the reply.",
  "EDIT-2": "Metadata that is named changes, null clears, the rest stays.",
  "EDIT-3": "Settings for the next turns are told to those who follow, and only if they change.",
  "EDIT-4": "Settings that bind at load are shown as pending until the next load binds them.",
  "EDIT-5": "thread/loadSettings/update needs the experimental capability.",
  "EDIT-6":
    "An unload and a resume bind a thread's new settings; other threads notice nothing and keep theirs.",
  "EDIT-7": "A rollback is a marker in the journal; the thread has the turns that are left.",
  "EDIT-8": "A revert is answered, then told to everyone; pages go on before what was dropped.",
  "EDIT-9": "Turns are not rolled back while one runs.",
  "EDIT-13": "A revert interrupts the turn that runs: its end is told, then the reply, then the revert.",
  "EDIT-10": "Injected items are kept, and told to nobody.",
  "EDIT-12": "What is no response item is not injected; kinds that are not known are kept from the model.",
  "EDIT-14": "Ephemeral threads are not named, moved, deleted or reverted.",
  "EDIT-15": "What is put in while the model speaks is shown to it in the same turn.",
  "EDIT-11": "Sections hold threads in an order; a section that is deleted holds none.",
  "EDIT-16": "Changes of sections, and moves of threads between them, are sent to clients that may see them.",

  // Leaving.
  "UNLOAD-1":
    "thread/unload answers when the teardown is done, then notLoaded and closed are told to everyone.",
  "UNLOAD-2": "A thread that is not loaded, or not there, is notLoaded, and nothing is told.",
  "UNLOAD-3":
    "A running turn, then other subscribers refuse an unload; what blocks is told if it was asked for.",
  "UNLOAD-4": "An unload by a client that does not follow is refused while others do.",
  "UNLOAD-5": "With interrupt the turn ends first.",
  "UNLOAD-6": "Each load is closed exactly once, however many ask.",
  "UNLOAD-7": "thread/unsubscribe says whether there was something to leave; turns are not told any more.",
  "UNLOAD-9":
    "A call or a question that is pending outside of a turn refuses an unload; a subscription does not.",
  "UNLOAD-8": "Why each thread is loaded, and how many are in memory, is told by diagnostics and metrics.",
  "METRICS-1": "Turns of stored and of ephemeral threads are counted, each in the thread in which it ran.",
  "IDLE-1":
    "On stdio an unsubscribe is answered, then notLoaded and closed are told; a resume behind it loads afresh.",
  "IDLE-2": "The delay is 1800 seconds on sockets, or what is configured, or what the client states.",
  "IDLE-3": "A resume within the delay ends it.",
  "IDLE-4": "The delay is that of the last subscriber to leave; while one follows, none runs.",
  "IDLE-5": "A client leaves by ending its connection, by dying, and also before its request was served.",
  "IDLE-6": "A turn that runs when the last subscriber leaves goes on to its end.",
  "IDLE-7": "A resume that races with the unload ends with a loaded thread and a subscription.",
  "IDLE-8": "The same when the thread is unloaded, named and read meanwhile.",
  "IDLE-10": "Only what is under way holds the delay up: a change of the thread, or a look at it, does not.",
  "IDLE-9": "A thread that was loaded for a resume which is refused does not stay.",
  "REPLAY-1":
    "Durable notifications carry a cursor for those who want it; two subscribers see the same order.",
  "REPLAY-2": "A resume behind a cursor replays exactly what came after it, in order, once.",
  "REPLAY-3": "A client that is cut off in the middle of a turn misses nothing and sees nothing twice.",
  "REPLAY-4": "Replay goes on over unloads, over an orderly end of the host, and over a kill.",
  "REPLAY-5": "What is no cursor is refused; what the journal no longer has is told as a gap.",
  "CRASH-1":
    "After a kill nothing that was acknowledged is missing: turns, ends, names, archives, deletions.",
  "CRASH-2": "After a kill every accepted turn has exactly one end.",
  "CRASH-3": "After a kill the index equals a rebuild.",
  "CRASH-4": "After an orderly end no claim and no lock is left.",
  "CRASH-5": "After a power cut the index equals a rebuild, and every load has an end.",
  "FAULT-1": "A home that cannot be written to is read; what wants to write is refused with a code.",
  "FAULT-2": "Folders that are removed at run time are made again.",
  "FAULT-3": "A full disk is told, loses nothing, stops no other thread, and is over when there is room.",
  "FAULT-4": "A damaged index is made anew from the journals.",
  "FAULT-5": "A torn last line is cut, and reported.",
  "FAULT-6": "Bad lines in the middle of a journal are left out, and reported.",
  "FAULT-7": "A BOM, CRLF and U+2028 change nothing.",
  "FAULT-8": "A file that is no journal hurts no other thread.",
  "FAULT-10": "A thread whose host is about to end, or was killed just now, is waited for.",
  "FAULT-11":
    "A journal that someone else has written to takes nothing more until its thread is loaded again.",
  "FAULT-12": "What of a journal survives a power cut is configurable (journal_sync).",
  "FAULT-13": "A home on a network file system takes no threads, and the error says so.",
  "FAULT-15":
    "Hosts side by side on one home write a thread one at a time, also when some of them are killed.",
  "FAULT-16": "Hosts that are killed again and again under many clients lose nothing that they acknowledged.",
  "FAULT-14": "A deleted thread stays away after a power cut, whichever host made it.",
  "FAULT-9": "Two hosts on one home read everything; one writes a thread, and the other is told who does.",
  "FAULT-20":
    "While the index cannot be opened on disk, no claim is given back and no thread is deleted; the next host lists what the journals say.",
  "FAULT-21":
    "A thread that was started before the disk was full can be used as soon as there is room, also when it was unloaded meanwhile.",
  "FAULT-22": "thread/unload frees a thread whose journal failed in a turn, with and without interrupt.",
  "FAULT-23":
    "A disk that fails is told as `storageFailed`, whatever was being done, and never as `internal`.",
  "FAULT-24":
    "Another host finds a thread whose journal is being made as it was started, or not yet; after a kill in between, always as it was started.",
  "FAULT-25":
    "What clients hear of ends, answers, closings, verdicts and revoked grants survives a power cut in that very moment.",
  "FAULT-26":
    "Connections leave the host descriptors for its own work: it serves and logs on, whatever clients open.",
  "FAULT-27":
    "A thread whose journal could not be written goes on with the next request for which the disk has room; its turn ends at once, with an error.",
  "JOURNAL-1": "A resume without turns of a huge thread reads only its tail, and holds little of it.",
  "JOURNAL-2": "The last page of a huge thread is read from the tail.",
  "JOURNAL-3": "A reply over the frame limit is refused with a code, and the connection goes on.",
  "JOURNAL-4":
    "A journal with one of every record that was ever written leads to the same state, notifications and turns for ever.",
  "JOURNAL-5":
    "Records from disk are read as strictly as requests from clients: what is damaged is left out.",
  "JOURNAL-6": "The first page of a huge thread is read from its front.",
  "MOVED-1":
    "A thread that another host has taken over is parked: nothing more is written to it and tool servers hear nothing; clients of the host that lost it get `notLoaded` and `thread/closed`.",
  "MOVED-2":
    "A call that was dispatched is performed only by the host that has the thread: the claim is looked at just before.",
  "MOVED-3":
    "The helpers of a thread that another host has taken over are parked with it: nothing is written, no tool server hears of it, and their claims are free.",
  "MOVED-4":
    "A model call that waited for its time, after a failure, is made only by the host that has the thread.",
  "SHARED-1":
    "Hosts that share nothing but a store serve each other's threads: a thread is written by the host that has its claim, read by all of them, and taken over when its host dies.",
  "JOURNAL-7":
    "A page in the middle of a huge thread costs that page: its commit is found by a search, or by a hint.",
  "DAMAGE-1": "A damaged checkpoint is passed over for the one before it, and nothing is lost.",
  "DAMAGE-2": "One thread that cannot be read or listed keeps no other from thread/list.",
  "DAMAGE-3": "No content of a journal ends the host, keeps it from answering, or hurts another thread.",
  "DAMAGE-4": "Blank and junk lines in a journal keep no other request from its answer, and are logged once.",
  "DAMAGE-5": "A pipe, a device or a folder in a journal's place is refused at once.",
  "STORE-1":
    "Archiving moves the journal there and back, and is told in place of closed; an archived thread is neither resumed nor forked.",
  "STORE-2": "Archiving ends the turn first, and every subscription.",
  "STORE-3": "A deleted thread leaves no trace in the home: no file, no row, no text.",
  "STORE-4": "Deleting ends the turn first.",
} as const;
