// The reference program's own terminal interface, as it is published, in a terminal of its own.
import { mkdir, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ensurePeer, PEER_VERSION } from "../conformance/peer-schema/peer-binary.ts";
import { atFileEnd } from "../support/file-end.ts";
import { freshFolder } from "../support/folder.ts";
import type { HostProcess } from "../support/host-process.ts";
import { goWithout, hasTmux } from "./install.ts";
import { Terminal } from "./terminal.ts";

// The tests' set-up has installed it already, if that is possible.
const codex = await ensurePeer({ install: false });
const tmux = codex === undefined ? false : await hasTmux();
if (codex === undefined) goWithout("the Codex TUI", `the peer ${PEER_VERSION} is not here`);
else if (!tmux) goWithout("the Codex TUI", "there is no tmux");

/** Whether it can be tried here. */
export const hasTui = codex !== undefined && tmux;

/** What belongs to the terminals of a test file. */
let made: Promise<string> | undefined;
const ownFolder = (): Promise<string> => {
  made ??= freshFolder("tui").then((folder) => realpath(folder));
  return made;
};
const terminals: Terminal[] = [];
atFileEnd(async () => {
  await Promise.all(terminals.splice(0).map((terminal) => terminal.close()));
  made = undefined;
});

/** What it keeps for itself: no questions about trust and updates, and keys that come fast are keys, not a paste. */
async function ownHome(cwd: string): Promise<string> {
  const home = join(await ownFolder(), "codex-home");
  await mkdir(home, { recursive: true });
  await mkdir(cwd, { recursive: true });
  const config = [
    "check_for_update_on_startup = false",
    "disable_paste_burst = true",
    "[analytics]",
    "enabled = false",
    `[projects.${JSON.stringify(cwd)}]`,
    'trust_level = "trusted"',
  ];
  await writeFile(join(home, "config.toml"), `${config.join("\n")}\n`);
  return home;
}

/** Starts it in a project, which is its own unless one is given. */
export async function openTui(
  host: HostProcess,
  { args = [], cwd }: { readonly args?: readonly string[]; readonly cwd?: string } = {},
): Promise<Terminal> {
  const folder = await ownFolder();
  const project = cwd ?? join(folder, "project");
  const home = await ownHome(project);
  const command = [codex!, ...args, "--remote", await host.url()];
  const env = { CODEX_HOME: home, HOME: home, TERM: "xterm-256color", LANG: "C.UTF-8" };
  const terminal = await Terminal.open(join(folder, `tmux-${terminals.length}`), command, {
    folder: project,
    env,
  });
  terminals.push(terminal);
  return terminal;
}

/** Which methods it has called, and how that came out. */
export async function calls(host: HostProcess): Promise<Map<string, string[]>> {
  const text = await (await fetch(`${await host.site()}/metrics`)).text();
  const found = new Map<string, string[]>();
  for (const [, labels] of text.matchAll(/^bobbin_requests_total\{(.*)\}/gm)) {
    const [, method] = /method="([^"]*)"/.exec(labels!)!;
    const [, outcome] = /outcome="([^"]*)"/.exec(labels!)!;
    found.set(method!, [...(found.get(method!) ?? []), outcome!]);
  }
  return found;
}
