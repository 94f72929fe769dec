import type { Bobbin } from "@bobbin/client";
import type { ThreadGrant } from "@bobbin/protocol";
import { useSignal } from "@preact/signals";
import { counted } from "../parts/quantity-text.ts";
import { attempt } from "../parts/request-failure.ts";
import { threadHref } from "../route.ts";
import { loadedByRecency } from "../thread-list/loaded-by-recency.ts";
import { Nothing, Section } from "./section.tsx";
import { useHostData } from "./use-host-data.ts";

/** The number of loaded threads whose grants are read at first, and more at each click. */
const THREADS_A_TIME = 50;

interface GrantOf {
  readonly threadId: string;
  readonly grant: ThreadGrant;
}

/** What users have allowed for the rest of a thread. Each grant can be revoked. */
export function Grants({ client }: { client: Bobbin }) {
  const limit = useSignal(THREADS_A_TIME);
  const { value, problem, again } = useHostData(() => readGrants(client, limit.value));
  const revoke = ({ threadId, grant }: GrantOf) =>
    attempt(() => client.request("thread/grants/revoke", { threadId, grantId: grant.id })).then(again);
  const readMore = () => {
    limit.value += THREADS_A_TIME;
    again();
  };
  return (
    <Section title="Grants of loaded threads" problem={problem}>
      {value?.grants.length === 0 ? (
        <Nothing>
          {value.unread === 0 ? "None." : `None in the ${limit.value} threads that were used last.`}
        </Nothing>
      ) : null}
      <ul class="facts-list">
        {value?.grants.map(({ threadId, grant }) => (
          <li key={grant.id}>
            <a href={threadHref(threadId)}>{grant.kind}</a>
            <span>
              {grant.description} <span class="dim">{`for the ${grant.scope}`}</span>
            </span>
            <button type="button" class="small" onClick={() => void revoke({ threadId, grant })}>
              Revoke
            </button>
          </li>
        ))}
      </ul>
      {value && value.unread > 0 ? (
        <button type="button" class="small" onClick={readMore}>
          {`Read the grants of ${counted(Math.min(value.unread, THREADS_A_TIME), "more thread", "more threads")}`}
        </button>
      ) : null}
    </Section>
  );
}

/** The grants of loaded threads, and the number of loaded threads that were not read. */
async function readGrants(
  client: Bobbin,
  limit: number,
): Promise<{ readonly grants: readonly GrantOf[]; readonly unread: number }> {
  const ids = await loadedByRecency(client);
  const lists = await Promise.all(
    ids.slice(0, limit).map(async (threadId) => {
      // A thread that was unloaded in between has no grants.
      const read = await client.request("thread/grants/list", { threadId }).catch(() => ({ data: [] }));
      return read.data.map((grant) => ({ threadId, grant }));
    }),
  );
  return { grants: lists.flat(), unread: Math.max(0, ids.length - limit) };
}
