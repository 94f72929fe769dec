// Runs the stress test in test/storm for --minutes (default 1): three hosts on one home directory with twenty clients,
// killed again and again.
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

const usage = "usage: npm run storm -- [--minutes N] [--seed N]\n";
const { minutes, seed, help } = flags();
if (help) {
  process.stdout.write(usage);
  process.exit(0);
}
if (!(Number(minutes) > 0)) {
  process.stderr.write(`storm: --minutes takes a number above 0, not ${minutes}\n${usage}`);
  process.exit(2);
}
const { status } = spawnSync(process.execPath, ["scripts/test.mjs", "test/storm"], {
  stdio: "inherit",
  env: { ...process.env, BOBBIN_STORM_MINUTES: minutes, ...(seed && { BOBBIN_SEED: seed }) },
});
process.exit(status ?? 1);

function flags() {
  try {
    const { values } = parseArgs({
      options: {
        minutes: { type: "string", default: "1" },
        seed: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    return values;
  } catch (error) {
    process.stderr.write(`storm: ${error.message}\n${usage}`);
    process.exit(2);
  }
}
