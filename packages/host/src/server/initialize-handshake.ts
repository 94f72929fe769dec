import { machine, platform, release, type } from "node:os";
import type { InitializeParams, InitializeResponse } from "@bobbin/protocol";
import { fault } from "../errors.ts";
import { BOBBIN_VERSION, PEER_VERSION } from "../version.ts";
import type { Client } from "./connection.ts";

/** Clients that act for other programs. Threads that they start are not listed under their names. */
const INTERMEDIARIES: ReadonlySet<string> = new Set(["codex_app_server_daemon", "codex-backend"]);
/** The originator of a thread if the client names none. */
const DEFAULT_ORIGINATOR = "codex_cli_rs";

/** Handles `initialize`: the client's name and capabilities, and the reply. */
export function initializeHandshake(
  home: string,
  { clientInfo, capabilities }: InitializeParams,
): { readonly client: Client; readonly result: InitializeResponse } {
  const { name, version } = clientInfo;
  // Client names are later used as header values. Names that are no valid header value are refused, as in the Codex
  // CLI.
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(name)) throw fault("invalidClientName", name);
  const originator = INTERMEDIARIES.has(name) ? DEFAULT_ORIGINATOR : name;
  const client: Client = {
    info: clientInfo,
    originator,
    experimental: capabilities?.experimentalApi ?? false,
    optedOut: new Set(capabilities?.optOutNotificationMethods ?? []),
    eventCursor: capabilities?.eventCursor ?? false,
    unloadDelayMs:
      capabilities?.threadUnloadDelaySecs == null ? undefined : capabilities.threadUnloadDelaySecs * 1000,
  };
  // Clients look for the version after the first slash.
  const system = `${type()} ${release()}; ${machine()}`;
  const result = {
    userAgent: `${originator}/${PEER_VERSION} (${system}) bobbin/${BOBBIN_VERSION} (${name}; ${version})`,
    codexHome: home,
    platformFamily: platform() === "win32" ? "windows" : "unix",
    platformOs: { darwin: "macos", win32: "windows" }[platform() as string] ?? platform(),
  };
  return { client, result };
}
