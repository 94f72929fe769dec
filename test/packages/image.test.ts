// The steps of the Dockerfile in docs/deploy.md, performed in an empty folder with the packed program. Debian packages
// are not installed.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, chown, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { blockWith, ROOT } from "../support/markdown.ts";
import { tarballOf } from "../support/tarballs.ts";

const run = promisify(execFile);
const NOBODY = 65_534;

/** The instructions of a Dockerfile, in order. */
function instructionsOf(text: string): { readonly name: string; readonly value: string }[] {
  const lines = text.replaceAll("\\\n", " ").trimEnd().split("\n");
  return lines.map((line) => {
    const [, name, value] = /^([A-Z]+) (.*)$/.exec(line)!;
    return { name: name!, value: value!.trim() };
  });
}

it("[DEPLOY-1] give a host that runs without root, is healthy and keeps its data in the volume", async () => {
  const steps = instructionsOf(await blockWith("docs/deploy.md", "dockerfile", "FROM "));
  const values = (name: string) => steps.filter((step) => step.name === name).map(({ value }) => value);
  const root = await freshFolder("image");
  await chmod(root, 0o755);
  const isRoot = process.getuid?.() === 0;
  // The node of the base image is one that the program supports.
  const { engines } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  const [, major] = /^node:(\d+)-slim$/.exec(values("FROM")[0]!)!;
  expect(Number(major)).toBeGreaterThanOrEqual(Number(/\d+/.exec(engines.node)![0]));

  const [debian, install, ...more] = values("RUN");
  expect([debian, more]).toEqual([expect.stringContaining("apt-get install"), []]);
  const flags = `--prefix ${root}/usr --prefer-offline --no-audit --no-fund --loglevel=error`;
  const here = install!
    .replace("npm install -g bobbin", `npm install -g ${flags} ${await tarballOf("bobbin")}`)
    .replaceAll("/data", `${root}/data`)
    // The user `node` of the base image.
    .replace("node:node", isRoot ? `${NOBODY}:${NOBODY}` : String(process.getuid?.()));
  await run("sh", ["-ec", here]);

  expect(values("USER")).toEqual(["node"]);
  expect(values("VOLUME")).toEqual(["/data"]);
  const set = values("ENV").flatMap((value) =>
    value.split(" ").map((one) => one.split("=") as [string, string]),
  );
  const env = Object.fromEntries(set.map(([key, value]) => [key, value.replace("/data", `${root}/data`)]));
  const token = join(root, "token");
  await writeFile(token, "a-capability-token-of-the-documentation\n", { mode: 0o400 });
  const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  if (isRoot) await chown(token, NOBODY, NOBODY);
  const all = { ...env, PATH: `${root}/usr/bin:${process.env["PATH"]}`, BOBBIN_NO_KEYRING: "1", HOME: root };
  const [program, ...args] = (JSON.parse(values("CMD")[0]!) as string[]).map((one) =>
    one.replace("ws://0.0.0.0:4545", "ws://127.0.0.1:0").replace("/run/secrets/bobbin-token", token),
  );
  const host = spawn(program!, args, { env: all, cwd: root, stdio: ["ignore", "ignore", "pipe"], ...user });
  const ended = new Promise((resolve) => host.once("close", resolve));
  try {
    const port = await portOf(host);
    const [check, ...checkArgs] = JSON.parse(values("HEALTHCHECK")[0]!.replace(/^CMD /, "")) as string[];
    const probe = checkArgs.map((one) => one.replace("4545", port));
    await expect(run(check!, probe, { env: all, ...user })).resolves.toMatchObject({ stderr: "" });
    expect(values("EXPOSE")).toEqual(["4545"]);
    await eventually(() => existsSync(`${root}/data/app-server-control`), "the volume has the host's files");
  } finally {
    host.kill("SIGKILL");
    await ended;
  }
});

/** The port that a host logs, in JSON. */
async function portOf(host: ChildProcess): Promise<string> {
  let said = "";
  host.stderr!.on("data", (bytes) => {
    said += String(bytes);
  });
  const found = () => /ws:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1];
  await eventually(() => found() !== undefined || host.exitCode !== null, "the host listens");
  if (found() === undefined) throw new Error(`the host ended: ${said}`);
  return found()!;
}
