/** What models and clients do with MCP servers. */
export const mcpCallLines = {
  "MCPCALL-1":
    "Models know a tool as `mcp__SERVER` and its name, of at most 64 characters together; names are different and stay the same over restarts.",
  "MCPCALL-2":
    "Whether a call is asked about follows from its approval mode, its annotations, the thread's policy and what was granted.",
  "MCPCALL-3": "A result reaches the model as text, pictures, sounds, resources and structured content.",
  "MCPCALL-4": "Whatever a server sends as a result, what the model and clients get of it is bounded.",
  "MCPCALL-5":
    "Large pictures and other bytes of MCP servers and of tool servers are beside the journal, and clients and models get them whole.",
  "MCPCALL-6": "A turn does not wait for a server that starts; a call of one of its tools does.",
  "MCPCALL-7":
    "A tool that is allowed for the session is not asked about again until that is revoked; nothing is remembered where every call is to be asked about.",
  "MCPCALL-8":
    "A tool that is allowed for good is so in config.toml, with all comments kept, if its server stands there; else for the session.",
  "MCPCALL-9": "A call that needs approval where nobody may be asked is refused with words for the model.",
  "MCPCALL-10": "An interrupt cancels the call at its server, and its item completes before the turn.",
  "MCPCALL-11": "Progress of a call is sent between its start and its end, and bounded.",
  "MCPCALL-12": "Calls of a server run one after the other in a thread, unless it takes several at once.",
  "MCPCALL-13": "What is too long for the model is in a file that commands of the thread can read.",
  "MCPCALL-14":
    "A server that dies in a call, answers twice, refuses or sends too much fails that call at most, with words for the model.",
  "MCPCALL-15": "What a server offers anew in the middle of a turn is offered to the model in that turn.",
  "MCPCALL-16":
    "Where there are too many tools to list, models find them by a search, and call what they found, on every wire.",
  "MCPCALL-17": "What a server says about itself is given to models with its tools, bounded, on every wire.",
  "MCPCALL-18": "Models list and read the resources of MCP servers.",
  "MCPCALL-19": "The offline model calls tools of MCP servers.",
  "MCPCALL-20":
    "A question of a server is asked beside its call, and ends with the call, with its turn, with the server's connection, or when the server withdraws it.",
  "MCPCALL-21": "A question because of a client's own call is asked without a turn, and outlives turns.",
  "MCPCALL-22": "The address that a server sends the user to is in no journal.",
  "MCPCALL-23": "An answer grants what was offered for the session, and nothing else.",
  "MCPCALL-24": "A question of a shared server never reaches a thread that it is not for.",
  "MCPCALL-25":
    "Pages that a server wants the user to visit before a call are asked about, and the call is made again.",
  "MCPCALL-26":
    "A server uses the thread's model only with consent, sees nothing of the thread, and what it uses is counted.",
  "MCPCALL-27": "A client's own call ends with the client and with the load of its thread.",
  "MCPCALL-28": "Auto review judges calls of MCP servers.",
  "MCPCALL-29":
    "A call is never made twice: after a crash the model gets an output that says that its outcome is not known.",
} as const;
