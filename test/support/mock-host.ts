import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freshFolder } from "./folder.ts";
import { type HostProcess, stdioHost } from "./host-process.ts";
import { MockModel, type Reply } from "./mock-model.ts";
import type { WireClient } from "./wire-client.ts";

export interface MockHost {
  readonly model: MockModel;
  readonly host: HostProcess;
  readonly client: WireClient;
  readonly threadId: string;
  readonly home: string;
}

/**
 * Starts a host with its own mock model, the experimental API and a thread. `config`: lines for the top of
 * config.toml.
 */
export async function mockHost(replies: readonly Reply[], config: readonly string[] = []): Promise<MockHost> {
  const model = await MockModel.start(...replies);
  const home = await freshFolder();
  const lines = [
    'model_provider = "mock"',
    'model = "mock-model"',
    ...config,
    "[model_providers.mock]",
    'name = "Mock"',
    `base_url = "${model.url}"`,
    'wire_api = "responses"',
    "request_max_retries = 0",
    "stream_max_retries = 0",
  ];
  await writeFile(join(home, "config.toml"), lines.join("\n"));
  const { host, client } = await stdioHost({ home, capabilities: { experimentalApi: true } });
  return { model, host, client, threadId: await client.startThread(), home };
}
