import type { Bobbin } from "@bobbin/client";
import type { ModelProviderSetup, SandboxSetup } from "@bobbin/protocol";
import { HealthRow } from "./health-row.tsx";
import { Section } from "./section.tsx";
import { useHostData } from "./use-host-data.ts";

/** Shows which providers have a key, whether commands are confined, and warnings about the configuration. */
export function SetupStatus({ client }: { client: Bobbin }) {
  const { value, problem } = useHostData(() => client.request("server/setup/read", {}));
  return (
    <>
      <Section title="Sandbox" problem={problem}>
        {value ? (
          <ul class="facts-list">
            <SandboxFact sandbox={value.sandbox} />
          </ul>
        ) : null}
      </Section>
      {value && value.configWarnings.length > 0 ? (
        <Section title="Configuration warnings">
          <ul class="facts-list">
            {value.configWarnings.map((warning) => (
              <HealthRow key={warning} name="Warning" isWell={false}>
                {warning}
              </HealthRow>
            ))}
          </ul>
        </Section>
      ) : null}
      <Section title="Keys of model providers">
        <ul class="facts-list">
          {value?.providers.map((provider) => (
            <HealthRow key={provider.id} name={provider.name} isWell={isWell(provider)}>
              {keyText(provider)}
              {provider.isDefault ? <span class="dim"> · used by default</span> : null}
            </HealthRow>
          ))}
        </ul>
      </Section>
    </>
  );
}

function SandboxFact({ sandbox: { name, problem, advice } }: { sandbox: SandboxSetup }) {
  return (
    <HealthRow name={name ?? "None"} isWell={problem === null}>
      {problem === null ? (
        "Commands run confined."
      ) : (
        <span class="bad">{`Commands cannot run confined: ${problem}.`}</span>
      )}
      {advice === null ? null : ` ${advice}`}
    </HealthRow>
  );
}

/** Whether a provider has its key; null if the key is missing and the provider is not the default one. */
function isWell({ key, isDefault }: ModelProviderSetup): boolean | null {
  return key !== "missing" || (isDefault ? false : null);
}

/** Where the key of a provider comes from. The host never sends the key itself. */
function keyText({ key, variable, storedIn }: ModelProviderSetup): string {
  switch (key) {
    case "notNeeded":
      return "needs no key";
    case "missing":
      return variable === null ? "no login" : `no key: ${variable} is not set, and none is stored`;
    case "environment":
      return `key in ${variable}`;
    case "config":
      return "key in config.toml";
    case "stored":
      return `key stored ${STORED[storedIn ?? "file"]}`;
  }
}

const STORED = {
  keyring: "in a file that is sealed with the system’s keyring",
  file: "in a file that only its user can open",
  memory: "in memory, until the host ends",
};
