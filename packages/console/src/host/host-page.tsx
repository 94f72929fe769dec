import type { Bobbin } from "@bobbin/client";
import { useEffect } from "preact/hooks";
import "../style/host.css";
import { pageMetadata } from "../page-metadata.ts";
import { BackIcon } from "../parts/icons.tsx";
import type { ThreadList } from "../thread-list/thread-list.ts";
import { Configuration } from "./configuration.tsx";
import { Grants } from "./grants.tsx";
import { HostsOfHome } from "./hosts-of-home.tsx";
import { LoadedThreads } from "./loaded-threads.tsx";
import { McpAndToolServers } from "./mcp-and-tool-servers.tsx";
import { McpApprovalList } from "./mcp-approval-list.tsx";
import { Models } from "./models.tsx";
import { RecentProblems } from "./recent-problems-view.tsx";
import { Rules } from "./rules.tsx";
import { SetupStatus } from "./setup-status.tsx";

/** The page about the host: loaded threads, recent problems, servers, permissions, models and configuration. */
export function HostPage({ client, list }: { client: Bobbin; list: ThreadList }) {
  useEffect(() => {
    document.title = "Host · Bobbin";
  }, []);
  return (
    <main class="host-page">
      <header class="page-head">
        <a class="button quiet back" href="#/" aria-label="All threads">
          <BackIcon />
        </a>
        <div class="page-title">
          <h1>Host</h1>
          <p class="dim">
            <span>{pageMetadata.address}</span>
            <span>{pageMetadata.version}</span>
          </p>
        </div>
        <a class="button quiet" href="/connect">
          Connect a program
        </a>
      </header>
      <section class="host-scroll" tabIndex={0} aria-label="Host">
        <div class="column">
          <LoadedThreads client={client} list={list} />
          <RecentProblems client={client} />
          <HostsOfHome client={client} />
          <McpAndToolServers client={client} />
          <Rules client={client} />
          <McpApprovalList client={client} />
          <Grants client={client} />
          <SetupStatus client={client} />
          <Models client={client} />
          <Configuration client={client} />
        </div>
      </section>
    </main>
  );
}
