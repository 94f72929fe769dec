// Plays the recorded cases against a version of the Codex CLI on stdio, and writes the order of each into a file.
// `npm run peer` runs this for two versions, and compares the files.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { afterEach, describe, it } from "vitest";
import { ensurePeer } from "../conformance/peer-schema/peer-binary.ts";
import { freshFolder } from "../support/folder.ts";
import { environment } from "../support/host-process.ts";
import { EVERYTHING, mcpServer } from "../support/mcp-stage.ts";
import { MockModel } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import {
  hasMcp,
  RECORDED_CONFIG,
  RECORDED_ENVIRONMENT,
  RECORDED_PROFILE,
  type RecordedCase,
  readCases,
} from "../support/recorded-case.ts";
import { orderOf } from "../support/recorded-play.ts";
import { stdioWire } from "../support/wire.ts";
import { WireClient } from "../support/wire-client.ts";

/** What Bobbin always has, and the Codex CLI has as features. */
const FEATURES = ["features.exec_permission_approvals = true", "features.request_permissions_tool = true"];
const file = process.env.BOBBIN_PEER_ORDERS;

describe.skipIf(file === undefined)("the order of the Codex CLI", () => {
  const orders: Record<string, Awaited<ReturnType<typeof orderOf>>> = {};
  // After each case, so that a run that is stopped leaves what it has.
  afterEach(() => writeFile(file!, JSON.stringify(orders)));

  const names = process.env.BOBBIN_PEER_CASES?.split(" ");
  const cases = readCases("codex").filter(({ name }) => names?.includes(name) ?? true);
  it.each(cases.map((recorded) => ({ title: recorded.name, recorded })))(
    "in $title",
    async ({ title, recorded }) => {
      orders[title] = await played(recorded);
    },
  );
});

/** Plays a case with a process and a home of its own, so that a case that fails leaves nothing to the next. */
async function played(recorded: RecordedCase): ReturnType<typeof orderOf> {
  const model = await MockModel.start();
  // The Codex CLI asks for a list of models, whenever it starts.
  model.lacks(/\/models$/);
  // The Codex CLI refuses profiles without a default, and takes no other sandbox beside a default.
  const profile = JSON.stringify(recorded.thread ?? {}).includes('"permissions"')
    ? ["features.network_proxy = true", 'default_permissions = "net"', ...RECORDED_PROFILE]
    : [];
  const settings = hasMcp(recorded)
    ? { provider: [mcpServer("every", EVERYTHING, ["stdio"])] }
    : { top: [...FEATURES, ...RECORDED_CONFIG, ...profile] };
  const { home } = await modelHome("responses", model.url, settings);
  const env = {
    CODEX_HOME: home,
    // The Codex CLI has no sandbox if its home is in the folder for temporary files.
    TMPDIR: await freshFolder("tmp"),
    ...(!hasMcp(recorded) && RECORDED_ENVIRONMENT),
  };
  const child = spawn((await ensurePeer())!, ["app-server"], { env: environment(home, env) });
  child.stderr.resume();
  try {
    const client = new WireClient(stdioWire(child));
    await client.initialize({ experimentalApi: true });
    return await orderOf(recorded, { model, client, answers: "client" });
  } finally {
    const ended = once(child, "close");
    child.kill();
    await ended;
    await model.close();
  }
}
