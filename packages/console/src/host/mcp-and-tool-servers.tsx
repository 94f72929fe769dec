import type { Bobbin } from "@bobbin/client";
import type { McpServerStatus, RapServer } from "@bobbin/protocol";
import type { ComponentChildren } from "preact";
import { counted } from "../parts/quantity-text.ts";
import { HealthRow } from "./health-row.tsx";
import { Nothing, Section } from "./section.tsx";
import { type HostData, useHostData } from "./use-host-data.ts";

/** MCP servers and tool servers with their health. */
export function McpAndToolServers({ client }: { client: Bobbin }) {
  const mcp = useHostData(async () => (await client.request("mcpServerStatus/list", {})).data);
  const rap = useHostData(async () => (await client.request("rap/servers/list", {})).data);
  return (
    <>
      <ServerList title="MCP servers" servers={mcp} error={({ toolsError }) => toolsError} text={mcpText} />
      <ServerList title="Tool servers" servers={rap} error={rapError} text={rapText} />
    </>
  );
}

interface ListProps<T> {
  readonly title: string;
  readonly servers: HostData<readonly T[]>;
  error(server: T): string | null;
  text(server: T): ComponentChildren;
}

function ServerList<T extends { readonly name: string }>({ title, servers, error, text }: ListProps<T>) {
  return (
    <Section title={title} problem={servers.problem}>
      {servers.value?.length === 0 ? <Nothing>None is configured.</Nothing> : null}
      <ul class="facts-list">
        {servers.value?.map((server) => (
          <HealthRow key={server.name} name={server.name} isWell={error(server) === null}>
            {text(server)}
            {error(server) ? <span class="bad"> · {error(server)}</span> : null}
          </HealthRow>
        ))}
      </ul>
    </Section>
  );
}

function mcpText({ runtimeStatus, tools }: McpServerStatus): string {
  return `${runtimeStatus ?? "not started"} · ${counted(Object.keys(tools).length, "tool", "tools")}`;
}

/** The error of a tool server; null if it has none, empty if it is not ready and the reason is unknown. */
function rapError({ health, error }: RapServer): string | null {
  return error ?? (health === "ready" || health === "unknown" ? null : "");
}

function rapText({ health, tools, pendingCalls, url }: RapServer): ComponentChildren {
  return (
    <>
      {`${health} · ${counted(tools.length, "tool", "tools")} · ${counted(pendingCalls, "call runs", "calls run")} · `}
      <span class="path">{url}</span>
    </>
  );
}
