import { spawnSync } from "node:child_process";

const tried = spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-all", "--proc", "/proc", "true"]);
const works = process.platform === "linux" && tried.status === 0;

/**
 * Whether commands can be sandboxed on this machine. With BOBBIN_REQUIRE_SANDBOX=1, as in CI, tests fail rather than
 * be skipped.
 */
export const hasSandbox = works || process.env.BOBBIN_REQUIRE_SANDBOX === "1";

if (!hasSandbox) {
  const why = tried.error?.message ?? tried.stderr?.toString().trim();
  console.warn(`Tests of the sandbox are skipped: bubblewrap does not work here (${why}).`);
}
