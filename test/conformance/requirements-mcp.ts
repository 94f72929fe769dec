/** MCP servers: how they are configured, shared, started and ended. */
export const mcpLines = {
  "MCP-1":
    "A server that nobody knows is started with the thread that has it; the thread hears when it starts, and when it is ready or has failed.",
  "MCP-2":
    "Threads with the same configuration, owner, folder, roots and trust share a server; others do not.",
  "MCP-3":
    "A server ends a moment after the last thread that had it, when it was idle for long, and with the host, however that ends.",
  "MCP-4":
    "What a server offered last time is there at once; the first call starts the server, and only required servers are waited for.",
  "MCP-5":
    "A server that dies, or forgets, is there again for the next call; what a call came to is in words that a model can act on.",
  "MCP-6": "A server with bad manners costs other servers and other threads nothing.",
  "MCP-7":
    "A question of a server reaches the call that it is for, or nobody; a server that could not be understood is isolated for good.",
  "MCP-8":
    "Calls of one thread go to a server one after the other, unless it is configured to take several at a time.",
  "MCP-9":
    "Servers are reached over streamable HTTP, with the configured headers and with tokens, and within their origin.",
  "MCP-10": "`[mcp_servers]` has the keys of the Codex CLI; a wrong entry is a warning that names the key.",
  "MCP-11":
    "Servers come from config.toml, from `-c`, from `config.mcp_servers` and `mcpServers` of requests, and from trusted projects.",
  "MCP-12":
    "A server gets a few variables of the host and those that are configured, and no secret of the host.",
  "MCP-13": "`config/mcpServer/reload` reads the servers again, for threads that are loaded, too.",
  "MCP-14":
    "Threads of a subject have the servers of config.toml that `[subjects]` names, and their own only with a grant.",
  "MCP-15":
    "`mcpServerStatus/list` shows the servers of a thread, or of all, with tools, resources and logins, in pages.",
  "MCP-16":
    "The reference servers of MCP offer models and clients all their features, over stdio and over streamable HTTP.",
};
