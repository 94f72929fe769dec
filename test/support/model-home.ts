import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

const homes: string[] = [];
afterAll(async () => {
  await Promise.all(homes.map((home) => rm(home, { recursive: true, force: true, maxRetries: 10 })));
});

/** A home whose threads talk to a local model, and a folder to work in. `more`: further lines of the provider. */
export async function modelHome(
  wire: string,
  modelUrl: string,
  {
    provider = [],
    top = [],
  }: { readonly provider?: readonly string[]; readonly top?: readonly string[] } = {},
): Promise<{ home: string; cwd: string }> {
  const home = await mkdtemp(join(tmpdir(), "bobbin-home-"));
  const cwd = await mkdtemp(join(tmpdir(), "bobbin-cwd-"));
  homes.push(home, cwd);
  const config = [
    'model_provider = "mock"',
    'model = "mock-model"',
    ...top,
    "[model_providers.mock]",
    'name = "Mock"',
    `base_url = "${modelUrl}"`,
    `wire_api = "${wire}"`,
    ...provider,
  ];
  await writeFile(join(home, "config.toml"), config.join("\n"));
  return { home, cwd };
}
