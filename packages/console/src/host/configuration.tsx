import type { Bobbin } from "@bobbin/client";
import { configRows, layerText } from "./config-rows.ts";
import { Section } from "./section.tsx";
import { useHostData } from "./use-host-data.ts";

/** Every key that is set, with its origin, and the files that were read. */
export function Configuration({ client }: { client: Bobbin }) {
  const { value, problem } = useHostData(() => client.request("config/read", { includeLayers: true }));
  return (
    <Section title="Configuration" problem={problem}>
      <ul class="facts-list">
        {value?.layers?.map(({ name, disabledReason, version }) => (
          <li key={version + layerText(name)}>
            <strong>{name.type}</strong>
            <span>
              <span class="path">{layerText(name)}</span>
              {disabledReason === null ? null : <span class="bad"> · {disabledReason}</span>}
            </span>
          </li>
        ))}
      </ul>
      {value ? (
        <section class="table-scroll" tabIndex={0} aria-label="Keys">
          <table class="config">
            <thead>
              <tr>
                <th>Key</th>
                <th>Value</th>
                <th>From</th>
              </tr>
            </thead>
            <tbody>
              {configRows(value).map(({ key, value: text, origin }) => (
                <tr key={key}>
                  <td class="path">{key}</td>
                  <td class="path">{text}</td>
                  <td class="dim path">{origin}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ) : null}
    </Section>
  );
}
