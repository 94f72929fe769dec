import type { Bobbin } from "@bobbin/client";
import { attempt } from "../parts/request-failure.ts";
import { Nothing, Section } from "./section.tsx";
import { useHostData } from "./use-host-data.ts";

/** The rules about commands and network hosts. Those that users accepted can be revoked. */
export function Rules({ client }: { client: Bobbin }) {
  const rules = useHostData(() => client.request("rules/list", {}));
  const revoke = (prefix: readonly string[]) =>
    attempt(() => client.request("rules/revoke", { prefix: [...prefix] })).then(rules.again);
  return (
    <Section title="Rules" problem={rules.problem}>
      {rules.value && rules.value.commands.length + rules.value.hosts.length === 0 ? (
        <Nothing>No rule says what commands may do without a question.</Nothing>
      ) : null}
      <ul class="facts-list">
        {rules.value?.commands.map((rule) => (
          <li key={`${rule.file}:${rule.line}`}>
            <strong>{rule.decision}</strong>
            <span>
              <code>{rule.pattern.map((words) => words.join("|")).join(" ")}</code>{" "}
              <span class="dim path">{`${rule.file}:${rule.line}`}</span>
            </span>
            {rule.revocable ? <Revoke onClick={() => revoke(rule.pattern.map(([word]) => word!))} /> : null}
          </li>
        ))}
        {rules.value?.hosts.map((rule) => (
          <li key={`${rule.file}:${rule.line}`}>
            <strong>{rule.decision}</strong>
            <span>
              {`${rule.protocol} `}
              <code>{rule.host}</code> <span class="dim path">{`${rule.file}:${rule.line}`}</span>
            </span>
            {rule.revocable ? <Revoke onClick={() => revoke([`${rule.protocol}://${rule.host}`])} /> : null}
          </li>
        ))}
        {rules.value?.badFiles.map(({ file, line, message }) => (
          <li key={`${file}:${line}`}>
            <strong class="bad">broken</strong>
            <span>{`${file}:${line}: ${message}`}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Revoke({ onClick }: { onClick(): Promise<unknown> }) {
  return (
    <button type="button" class="small" onClick={() => void onClick()}>
      Revoke
    </button>
  );
}
