import type { Bobbin } from "@bobbin/client";
import type { HostOfHome } from "@bobbin/protocol";
import { counted } from "../parts/quantity-text.ts";
import { HealthRow } from "./health-row.tsx";
import { Section } from "./section.tsx";
import { useHostData } from "./use-host-data.ts";

/** The hosts that run on this home. */
export function HostsOfHome({ client }: { client: Bobbin }) {
  const { value, problem } = useHostData(async () => (await client.request("server/hosts/list", {})).data);
  return (
    <Section title="Hosts of this home" problem={problem}>
      <ul class="facts-list">
        {value?.map((host) => (
          <HealthRow key={host.hostId} name={nameOf(host)} isWell={true}>
            {hostText(host)}
          </HealthRow>
        ))}
      </ul>
    </Section>
  );
}

function nameOf({ processId, hostId }: HostOfHome): string {
  return processId === null ? `Host ${hostId}` : `Process ${processId}`;
}

function hostText({ isThis, version, startedAt, threads }: HostOfHome): string {
  const loaded = counted(threads, "thread loaded", "threads loaded");
  if (version === null) return `serves one client on stdin and stdout · ${loaded}`;
  const since = startedAt === null ? "" : ` · since ${new Date(startedAt * 1000).toLocaleString()}`;
  return `${isThis ? "this host · " : ""}version ${version}${since} · ${loaded}`;
}
