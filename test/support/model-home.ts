import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atFileEnd } from "./file-end.ts";

const homes: string[] = [];
atFileEnd(async () => {
  await Promise.all(
    homes.splice(0).map((home) => rm(home, { recursive: true, force: true, maxRetries: 10 })),
  );
});

/**
 * Creates a home whose threads use a local model server, and a working folder. `more`: further lines of the
 * provider's table.
 */
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
    // Models may ask the user outside of Plan mode.
    "features.default_mode_request_user_input = true",
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
