import { dirname, join } from "node:path";
import type { ReadableFiles } from "../platform/platform.ts";
import { findRepository } from "./git-repository-folders.ts";
import { GitError } from "./run-git.ts";
import { gitIn, saveTree, type TrackedRepository, type TreePorts, treeDiff } from "./tree-snapshots.ts";

/** Limit on the bytes of the diff. A longer diff is refused, because a part of it could be taken for the whole. */
const MAX_DIFF_BYTES = 16 * 1024 * 1024;

/** Limit on the remote branches that are read. */
const MAX_REMOTE_REFS = 1000;

/** The local changes of a working tree, against what remotes have. */
export interface RemoteDiff {
  /** The newest commit in the history of HEAD that a remote has. */
  readonly sha: string;
  /** The diff from that commit to the working tree, including new files. */
  readonly diff: string;
}

/**
 * The diff between a working tree and the newest commit that a remote has. `store`: an empty folder for git's files,
 * which the caller removes.
 */
export async function diffToRemote(
  ports: TreePorts,
  view: Pick<ReadableFiles, "openRead" | "readText" | "exists" | "list">,
  { owner, cwd, store }: { readonly owner: string; readonly cwd: string; readonly store: string },
  signal: AbortSignal,
): Promise<RemoteDiff> {
  const repository = await findRepository(view, ports.files, await ports.files.realPath(cwd));
  if (repository === undefined || repository.index === null || repository.objects === null)
    throw new GitError(`${cwd} is in no git repository`);
  const folders = new Set([dirname(repository.index), dirname(repository.objects)]);
  const head = await headOf(view, folders);
  const remotes = await remoteCommits(view, dirname(repository.objects));
  if (head === undefined || remotes.length === 0)
    throw new GitError(`${cwd} has no commit that a remote has`);
  const tracked: TrackedRepository = { owner, repository, roots: [repository.top], store };
  const { tree } = await saveTree(ports, view, tracked, signal);
  const sha = await newestCommonCommit(ports, tracked, head, remotes, signal);
  const { stdout } = await gitIn(ports, tracked, ["rev-parse", "--verify", `${sha}^{tree}`], { signal });
  const trees = { before: stdout.toString("latin1").trim(), after: tree, without: [] };
  const { diffs, cut } = await treeDiff(ports, tracked, trees, MAX_DIFF_BYTES, signal);
  if (cut) throw new GitError(`the diff is larger than ${MAX_DIFF_BYTES} bytes`);
  return { sha, diff: Buffer.from(diffs.join(""), "latin1").toString("utf8") };
}

/** The newest commit in the history of `head` that a remote has. It may be `head` itself. */
async function newestCommonCommit(
  ports: TreePorts,
  tracked: TrackedRepository,
  head: string,
  remotes: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const input = [head, ...remotes.map((sha) => `^${sha}`), ""].join("\n");
  const args = ["rev-list", "--boundary", "--ignore-missing", "--stdin"];
  const { stdout } = await gitIn(ports, tracked, args, { signal, input });
  const lines = stdout.toString("latin1").split("\n").filter(Boolean);
  if (lines.length === 0) return head;
  const boundary = lines.find((line) => line.startsWith("-"));
  if (boundary === undefined) throw new GitError("no remote has a commit of this branch's history");
  return boundary.slice(1);
}

async function headOf(
  view: Pick<ReadableFiles, "readText">,
  folders: Iterable<string>,
): Promise<string | undefined> {
  const [own] = folders;
  const head = (await view.readText(join(own!, "HEAD")))?.trim() ?? "";
  const ref = /^ref: (refs\/[^\n]+)$/.exec(head)?.[1];
  if (ref === undefined) return COMMIT.test(head) ? head : undefined;
  if (ref.split("/").includes("..")) return undefined;
  for (const folder of folders) {
    const loose = (await view.readText(join(folder, ref)).catch(() => undefined))?.trim();
    if (loose !== undefined && COMMIT.test(loose)) return loose;
    const packed = (await packedRefs(view, folder)).get(ref);
    if (packed !== undefined) return packed;
  }
  return undefined;
}

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** The commits of the remote branches, as the repository last fetched them. */
async function remoteCommits(
  view: Pick<ReadableFiles, "readText" | "list">,
  common: string,
): Promise<readonly string[]> {
  const found = new Map(await packedRefs(view, common));
  for (const name of found.keys()) if (!name.startsWith("refs/remotes/")) found.delete(name);
  const folders = ["refs/remotes"];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    if (found.size > MAX_REMOTE_REFS) break;
    for (const { name, folder: isFolder } of await view.list(join(common, folder))) {
      const ref = `${folder}/${name}`;
      if (isFolder) folders.push(ref);
      else {
        const sha = (await view.readText(join(common, ref)))?.trim() ?? "";
        if (COMMIT.test(sha)) found.set(ref, sha);
      }
    }
  }
  return [...new Set(found.values())].slice(0, MAX_REMOTE_REFS);
}

async function packedRefs(
  view: Pick<ReadableFiles, "readText">,
  folder: string,
): Promise<Map<string, string>> {
  const text = (await view.readText(join(folder, "packed-refs")).catch(() => undefined)) ?? "";
  const refs = new Map<string, string>();
  for (const [, sha, name] of text.matchAll(/^([0-9a-f]{40,64}) (refs\/\S+)$/gm)) refs.set(name!, sha!);
  return refs;
}
