// Starts threads and runs turns, for the measures.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Creates a small git repository with AGENTS.md, a commit and an origin, as the folder for threads.
 * @param {import("./subjects.mjs").Home} home
 */
export function makeProject(home) {
  const path = join(home.path, "project");
  if (existsSync(path)) return path;
  mkdirSync(path);
  writeFileSync(join(path, "AGENTS.md"), "Be brief.\n");
  commitAll(path);
  git(path, "remote", "add", "origin", "https://localhost/project.git");
  return path;
}

/**
 * Makes a folder a git repository with this many files of 2 kB in folders of 50, all committed.
 * @param {string} path
 * @param {number} files
 */
export function makeLargeRepository(path, files) {
  for (let nth = 0; nth < files; nth++) {
    const folder = join(path, `folder-${Math.floor(nth / 50)}`);
    if (nth % 50 === 0) mkdirSync(folder);
    writeFileSync(join(folder, `file-${nth}.txt`), `This is file ${nth}.\n`.repeat(100));
  }
  commitAll(path);
}

/** @param {string} path */
function commitAll(path) {
  git(path, "init", "--quiet");
  git(path, "add", ".");
  git(path, "commit", "--quiet", "--message", "Begin");
}

/**
 * @param {string} cwd
 * @param {string[]} args
 */
function git(cwd, ...args) {
  execFileSync("git", ["-c", "user.name=bench", "-c", "user.email=bench@localhost", ...args], {
    cwd,
    stdio: "ignore",
    timeout: 60_000,
    env: { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: "1" },
  });
}

/**
 * Starts threads, a few at once. They stay loaded, because the connection is subscribed to them.
 * @param {import("./server-process.mjs").StdioServer} server
 * @param {{ cwd: string, count: number, atOnce?: number, atMostMs?: number }} options
 */
export async function startThreads(server, { cwd, count, atOnce = 8, atMostMs = 60_000 }) {
  const deadline = performance.now() + atMostMs;
  let begun = 0;
  const lane = async () => {
    while (begun < count) {
      if (performance.now() > deadline)
        throw new Error(`only ${begun} of ${count} threads in ${atMostMs} ms`);
      begun += 1;
      await server.request("thread/start", { cwd });
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, lane));
}

/**
 * Runs one turn to its end.
 * @param {import("./server-process.mjs").StdioServer} server
 * @param {string} threadId
 * @param {string} text
 */
export async function runTurn(server, threadId, text) {
  const completed = server.notification("turn/completed", (params) => params.threadId === threadId);
  const input = [{ type: "text", text, text_elements: [] }];
  const [{ turn }] = await Promise.all([completed, server.request("turn/start", { threadId, input })]);
  if (turn.status !== "completed") throw new Error(`the turn ended ${JSON.stringify(turn).slice(0, 300)}`);
}
