import { mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { nodePlatform } from "../platform/node.ts";
import { Leases } from "./leases.ts";
import { StartKeys } from "./start-keys.ts";

it("remembers some thousands of keys, and lets the oldest go first", async () => {
  const home = await mkdtemp(join(tmpdir(), "bobbin-keys-"));
  const platform = nodePlatform();
  const leases = new Leases(home, platform, async () => {});
  const keys = new StartKeys(home, platform.files, leases, async () => true);
  try {
    expect(await keys.reserve("key 0", "thread-0000")).toBe("thread-0000");
    const links = Array.from({ length: 4606 }, (_, at) =>
      symlink(`thread-${String(at + 1).padStart(4, "0")}`, join(home, "start_keys", `key ${at + 1}`)),
    );
    await Promise.all(links);
    // Counted when it looked first, so it looks again.
    const later = new StartKeys(home, platform.files, leases, async () => true);
    await later.reserve("key 4607", "thread-4607");
    const left = await readdir(join(home, "start_keys"));
    expect(left).toHaveLength(4096);
    expect(left).toContain("key 4607");
    expect(left).toContain("key 512");
    expect(left).not.toContain("key 511");
    expect(await later.reserve("key 4607", "thread-4608")).toBe("thread-4607");
  } finally {
    await leases.close();
    await rm(home, { recursive: true });
  }
});
