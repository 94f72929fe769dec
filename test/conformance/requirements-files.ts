export const fileLines = {
  // What clients do with files.
  "FS-1": "`fs/*` replies, and orders its notifications, as the Codex CLI does, on stdio and on a WebSocket.",
  "FS-2":
    "Pipes, devices, sockets, links in a circle, names with NUL or too long, files that vanish: each is an error with a stable code, and stalls nobody.",
  "FS-3":
    "`fs/writeFile` and `fs/copy` replace a file in one step, and keep its mode and the link that leads to it.",
  "FS-4": "A file that is too large, and a folder with too many entries, are refused with the limit.",
  "FS-5":
    "`fs/copy` copies folders with their links, leaves pipes out, and never truncates what it copies onto itself.",
  "FS-6": "`fs/remove` removes links and not what they lead to, and folders with all that is in them.",
  "FS-7": "A copy or removal that takes long is stopped when its connection ends, and when the host does.",
  "FS-8": "A subject works on files inside of its roots, and a link that is changed meanwhile leads nowhere.",

  // Watches.
  "WATCH-1":
    "A watched file is reported when it is changed, replaced, removed and made again; a watched folder when one of its own entries is.",
  "WATCH-2": "What changes within 200 ms is reported at once, sorted and each path once.",
  "WATCH-3":
    "A path that leads nowhere yet, and one that leads through links, is watched for what it comes to lead to.",
  "WATCH-4":
    "After the reply to `fs/unwatch` nothing is reported; a watch is of its connection alone, and ends with it.",
  "WATCH-5": "Each change of what is watched is reported after it happened, whatever else happens meanwhile.",
  "WATCH-6": "A client that does not read gets fewer and larger reports.",
  "WATCH-7": "A connection watches at most 1024 paths.",

  // Searches for files.
  "SEARCH-1":
    "`fuzzyFileSearch` and its sessions reply and notify as the Codex CLI does, on stdio and on a WebSocket.",
  "SEARCH-2": "A path gets the score and the places of letters that the Codex CLI gives it.",
  "SEARCH-3":
    "A search leaves out what `.gitignore`, `.git/info/exclude`, `.ignore` and the user's own git settings say, and nothing else; hidden files are found.",
  "SEARCH-4": "A search follows links, but not in circles; what cannot be read is passed over.",
  "SEARCH-5":
    "In a folder of 50,000 files the first results come while the search goes on, best first, and other requests are served meanwhile.",
  "SEARCH-6":
    "A search is ended by another one with the same token, and replies with what it has found by then.",
  "SEARCH-7":
    "A session is of its connection alone, and ends with it; a new query takes the place of the one before.",
  "SEARCH-8":
    "Searches run in a thread that is started for them and ends when nobody searches; if it dies, the host goes on.",
  "SEARCH-9": "A subject finds files inside of its roots, also where links change meanwhile.",
  "SEARCH-10": "A connection has at most 16 sessions, and 16 searches under way.",
} as const;
