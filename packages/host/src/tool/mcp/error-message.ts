import { McpError } from "./mcp-interface.ts";

/** Adds a message for models and users, which names the server and says whether the call may have had an effect. */
export function withMessage(name: string, why: McpError): McpError {
  const { kind, message, code, data } = why;
  const nothing = "Nothing was done.";
  const unknown = "Whether it had an effect is not known.";
  const words: Readonly<Record<McpError["kind"], string>> = {
    unavailable: `The MCP server ${name} is not available: ${message}. ${nothing}`,
    expired: `The MCP server ${name} is not available: ${message}. ${nothing}`,
    unauthorized: `The MCP server ${name} refused access: ${message}. ${nothing}`,
    lost: `The MCP server ${name} went away during the call: ${message}. ${unknown} The server is restarted; call again if that is safe.`,
    timeout: `The MCP server ${name} did not answer: ${message}. ${unknown}`,
    refused: message,
    tooLarge: `The MCP server ${name} answered with too much: ${message}. ${unknown} Ask it for less.`,
    invalid: `The MCP server ${name} gave an answer that cannot be used: ${message}. ${unknown}`,
  };
  return new McpError(kind, words[kind], { cause: why, code, data });
}
