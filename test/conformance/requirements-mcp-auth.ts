/** Logins to MCP servers, and the commands about MCP servers. */
export const mcpAuthLines = {
  "MCPAUTH-1":
    "A client logs in to a streamable HTTP MCP server by OAuth: it gets an address for a browser, hears how the login ended, and the server connects.",
  "MCPAUTH-2":
    "A token is refreshed before it expires and when it is refused, once for all who use it, also by several hosts on one home.",
  "MCPAUTH-3":
    "A login that was revoked is over: the server is listed as not logged in, and the words say which command logs in.",
  "MCPAUTH-4":
    "A login with the wrong state goes on waiting; one that is denied, timed out or cancelled ends with the reason; logins at once do not mix.",
  "MCPAUTH-5":
    "Tokens, codes and client secrets are in a file for the user alone, and in no log, journal, list, configuration reply, notification or command environment.",
  "MCPAUTH-6":
    "A login is refused for servers that are not known, or have no address, and for subjects unless the server is their own and they have the grant.",
  "MCPCLI-1": "`bobbin mcp list` and `get` show servers and who is logged in, and no secret value.",
  "MCPCLI-2": "`bobbin mcp add` and `remove` edit config.toml and keep comments and order.",
  "MCPCLI-3": "`bobbin mcp login` and `logout` log in and out, and hosts that run see it.",
  "MCPCLI-4":
    "`bobbin mcp test` and `bobbin doctor` connect to a server, and say what it offers or what is wrong with it, and what to do.",
} as const;
