import type { LoadSettings } from "@bobbin/protocol";
import type { Seals } from "../../credentials/journal-secret-sealing.ts";

type Given = Readonly<Record<string, unknown>>;

/** Encrypts (seals) the header values of tool servers in load settings, for the journal. */
export async function sealedHeaders(load: LoadSettings, seals: Pick<Seals, "seal">): Promise<LoadSettings> {
  const { toolServers } = load;
  if (toolServers == null) return load;
  const servers: [string, unknown][] = [];
  for (const [name, server] of Object.entries(toolServers as Given)) {
    const headers = headersIn(server);
    if (headers === undefined) {
      servers.push([name, server]);
      continue;
    }
    const sealed: [string, unknown][] = [];
    for (const [header, value] of Object.entries(headers))
      sealed.push([header, typeof value === "string" ? await seals.seal(value) : value]);
    servers.push([name, { ...(server as Given), headers: Object.fromEntries(sealed) }]);
  }
  return { ...load, toolServers: Object.fromEntries(servers) };
}

/** Decrypts the sealed header values. A value that cannot be decrypted is left out; the server then refuses calls. */
export function openedHeaders(
  toolServers: LoadSettings["toolServers"],
  seals: Pick<Seals, "open">,
): LoadSettings["toolServers"] {
  if (toolServers == null) return toolServers;
  const servers = Object.entries(toolServers as Given).map(([name, server]): [string, unknown] => {
    const headers = headersIn(server);
    if (headers === undefined) return [name, server];
    const opened = Object.entries(headers).flatMap(([header, value]): [string, unknown][] => {
      const text = typeof value === "string" ? seals.open(value) : value;
      return text === undefined ? [] : [[header, text]];
    });
    return [name, { ...(server as Given), headers: Object.fromEntries(opened) }];
  });
  return Object.fromEntries(servers);
}

function headersIn(server: unknown): Given | undefined {
  if (typeof server !== "object" || server === null) return undefined;
  const { headers } = server as Given;
  return typeof headers === "object" && headers !== null ? (headers as Given) : undefined;
}
