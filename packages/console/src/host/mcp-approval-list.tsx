import type { Bobbin } from "@bobbin/client";
import { attempt } from "../parts/request-failure.ts";
import { type McpApproval, mcpApprovals } from "./mcp-approvals.ts";
import { Nothing, Section } from "./section.tsx";
import { useHostData } from "./use-host-data.ts";

/** Tools of MCP servers for which users chose never to be asked again. Each approval can be revoked. */
export function McpApprovalList({ client }: { client: Bobbin }) {
  const { value, problem, again } = useHostData(async () => {
    const { layers } = await client.request("config/read", { includeLayers: true });
    return mcpApprovals(layers ?? []);
  });
  const revoke = ({ keyPath }: McpApproval) =>
    attempt(() =>
      client.request("config/batchWrite", {
        edits: [{ keyPath, value: null, mergeStrategy: "replace" }],
        // Loaded threads ask again, too.
        reloadUserConfig: true,
      }),
    ).then(again);
  return (
    <Section title="MCP tools without approval" problem={problem}>
      {value?.length === 0 ? <Nothing>None.</Nothing> : null}
      <ul class="facts-list">
        {value?.map((approval) => (
          <li key={approval.keyPath}>
            <strong>{approval.server}</strong>
            <code>{approval.tool}</code>
            <button type="button" class="small" onClick={() => void revoke(approval)}>
              Revoke
            </button>
          </li>
        ))}
      </ul>
    </Section>
  );
}
