import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { STUCK_MS } from "../../support/patience.ts";
import type { Definitions, JsonSchema } from "./from-json-schema.ts";

/** Has the peer write its JSON Schemas. */
export function writePeerSchemas(binary: string, folder: string, options: { experimental: boolean }): void {
  const flags = options.experimental ? ["--experimental"] : [];
  execFileSync(binary, ["app-server", "generate-json-schema", "--out", folder, ...flags], {
    stdio: "pipe",
    timeout: STUCK_MS,
  });
}

export type Family = "ClientRequest" | "ServerNotification" | "ServerRequest";

/** What the peer says about its messages. */
export class PeerFiles {
  readonly folder: string;
  readonly #families = new Map<Family, Map<string, JsonSchema>>();
  #definitions: Definitions | undefined;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Every named type; the peer's bundle keeps them all on one level, but for those of server requests. */
  get definitions(): Definitions {
    if (this.#definitions) return this.#definitions;
    const bundle = this.#read("codex_app_server_protocol.schemas.json").definitions as Record<
      string,
      unknown
    >;
    const { v2, ...top } = bundle;
    const all = { ...(v2 as Definitions), ...(top as Definitions) };
    this.#definitions = JSON.parse(JSON.stringify(all).replaceAll("#/definitions/v2/", "#/definitions/"));
    return this.#definitions!;
  }

  /** Schema of the params of each message of a family; `undefined` says that there are none. */
  params(family: Family): Map<string, JsonSchema> {
    const known = this.#families.get(family);
    if (known) return known;
    const messages = this.#read(`${family}.json`).oneOf as {
      properties: { method: { enum: [string] }; params?: JsonSchema };
    }[];
    const found = new Map(
      messages.map(({ properties }) => [properties.method.enum[0], properties.params ?? true] as const),
    );
    this.#families.set(family, found);
    return found;
  }

  #read(path: string): Record<string, unknown> {
    return JSON.parse(readFileSync(join(this.folder, path), "utf8"));
  }
}
