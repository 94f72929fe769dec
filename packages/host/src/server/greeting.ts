import { machine, platform, release, type } from "node:os";
import type { InitializeParams, InitializeResponse } from "@bobbin/protocol";
import { fault } from "../errors.ts";
import { BOBBIN_VERSION, PEER_VERSION } from "../version.ts";
import type { Client } from "./connection.ts";

/** Clients that act for others: what they start is not theirs. */
const GO_BETWEENS: ReadonlySet<string> = new Set(["codex_app_server_daemon", "codex-backend"]);
/** Who starts threads where nobody says who. */
const NOBODY_ELSE = "codex_cli_rs";

/** What `initialize` comes to: what the client said of itself, and what it is told. */
export function greet(
  home: string,
  { clientInfo, capabilities }: InitializeParams,
): { readonly client: Client; readonly result: InitializeResponse } {
  const { name, version } = clientInfo;
  // Clients' names are used as header values further on; what could not be one is refused here, as the peer does.
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(name)) throw fault("invalidClientName", name);
  const originator = GO_BETWEENS.has(name) ? NOBODY_ELSE : name;
  const client: Client = {
    info: clientInfo,
    originator,
    experimental: capabilities?.experimentalApi ?? false,
    optedOut: new Set(capabilities?.optOutNotificationMethods ?? []),
    eventCursor: capabilities?.eventCursor ?? false,
    unloadDelayMs:
      capabilities?.threadUnloadDelaySecs == null ? undefined : capabilities.threadUnloadDelaySecs * 1000,
  };
  // Clients look for a minimum version right after the first slash.
  const system = `${type()} ${release()}; ${machine()}`;
  const result = {
    userAgent: `${originator}/${PEER_VERSION} (${system}) bobbin/${BOBBIN_VERSION} (${name}; ${version})`,
    codexHome: home,
    platformFamily: platform() === "win32" ? "windows" : "unix",
    platformOs: { darwin: "macos", win32: "windows" }[platform() as string] ?? platform(),
  };
  return { client, result };
}
