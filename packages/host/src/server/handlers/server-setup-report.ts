import type { ModelProviderSetup, SandboxSetup } from "@bobbin/protocol";
import { keySource } from "../../model/provider-key-source.ts";
import type { HandlerContext } from "../handler-context.ts";
import type { MethodHandlers } from "../handler-types.ts";

/** Handlers about how the host is set up. They send no key, only where a key comes from. */
export function setupHandlers(context: HandlerContext): MethodHandlers {
  return {
    async "server/setup/read"(_params, { reply }) {
      const [providers, sandbox, warnings] = await Promise.all([
        providerSetups(context),
        sandboxSetup(context),
        context.keyWarnings.read(),
      ]);
      const { wrongConfig } = context;
      const configWarnings = warnings.map(({ message }) => message);
      reply({
        providers,
        sandbox,
        configWarnings: wrongConfig === null ? configWarnings : [wrongConfig, ...configWarnings],
      });
    },
  };
}

async function providerSetups(context: HandlerContext): Promise<ModelProviderSetup[]> {
  const { config, accounts, platform } = context;
  const stored = await Promise.all(config.modelProviders.map((settings) => accounts.has(settings)));
  const storage = stored.includes(true) ? await context.credentialStorage() : null;
  return config.modelProviders.map((settings, at) => {
    const key = keySource(settings, platform.env, stored[at]!);
    return {
      id: settings.id,
      name: settings.name,
      isDefault: settings.id === config.modelProvider,
      key,
      variable: settings.envKey,
      storedIn: key === "stored" ? storage : null,
    };
  });
}

async function sandboxSetup({ sandbox, platform }: HandlerContext): Promise<SandboxSetup> {
  const found = await sandbox.problem();
  const name = SANDBOXES[platform.machine.os] ?? null;
  return { name, problem: found?.reason ?? null, advice: found?.advice ?? null };
}

const SANDBOXES: Readonly<Record<string, string>> = { linux: "bubblewrap", darwin: "sandbox-exec" };
