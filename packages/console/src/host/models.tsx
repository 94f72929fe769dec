import type { Bobbin } from "@bobbin/client";
import { Section } from "./section.tsx";
import { useHostData } from "./use-host-data.ts";

/** The models that threads can use. */
export function Models({ client }: { client: Bobbin }) {
  const models = useHostData(async () => (await client.request("model/list", {})).data);
  return (
    <Section title="Models" problem={models.problem}>
      <ul class="facts-list">
        {models.value?.map(({ id, displayName, description, isDefault }) => (
          <li key={id}>
            <strong>{displayName}</strong>
            <span>
              {description}
              {isDefault ? <span class="dim"> · default</span> : null}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
