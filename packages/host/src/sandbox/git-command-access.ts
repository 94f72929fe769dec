import type { GitRepository } from "../platform/git-repository.ts";
import { GitFileSnapshot } from "./git-file-comparison.ts";
import type { GitGuards } from "./git-guard.ts";
import { protectionOf } from "./git-protection.ts";
import { currentBranch, missingUpstream } from "./git-upstream.ts";
import { type Placeholder, PlaceholderFiles } from "./placeholder-files.ts";
import type { SandboxPorts } from "./sandbox.ts";

/** The access that a plain git command gets to its repository. */
export interface OpenRepository {
  readonly writable: readonly string[];
  readonly protected: readonly string[];
  /**
   * Must be called when the command has ended. Resolves with sentences about protected files that have changed, and
   * about an upstream that git could not set.
   */
  close(): Promise<readonly string[]>;
}

/**
 * Grants sandboxed git commands write access to their repository, except to the files that decide which programs git
 * runs.
 */
export class GitAccess {
  readonly #ports: SandboxPorts;
  readonly #guards: GitGuards;
  readonly #placeholders: PlaceholderFiles;
  /** The latest snapshot per repository, so that only changed files are read again. */
  readonly #snapshots = new Map<string, GitFileSnapshot>();
  /** Repositories, by their folder, whose protected files changed while a command ran. They are not opened again. */
  readonly #changed = new Set<string>();

  constructor(ports: SandboxPorts, guards: GitGuards) {
    this.#ports = ports;
    this.#guards = guards;
    this.#placeholders = new PlaceholderFiles(ports.platform, ports.home);
  }

  async open(repository: GitRepository): Promise<OpenRepository> {
    const { platform } = this.#ports;
    const { files, machine } = platform;
    const { commonDir } = repository;
    if (this.#changed.has(commonDir)) throw new Error(`protected files of ${commonDir} have changed`);
    const { paths, absent, placeholders } = await protectionOf(files, repository, machine.userHome);
    await this.#placeholders.hold(placeholders);
    const watched = [...paths, ...absent];
    const snapshot = await GitFileSnapshot.of(
      platform,
      commonDir,
      watched,
      this.#snapshots.get(watched.join("\0")),
    ).catch(async (cause) => {
      await this.#placeholders.release(placeholders);
      throw cause;
    });
    this.#snapshots.set(watched.join("\0"), snapshot);
    const [branch, links] = await Promise.all([
      currentBranch(files, repository),
      this.#guards.links(repository),
    ]);
    return {
      writable: [commonDir],
      protected: paths,
      close: async () => {
        const changed = await snapshot.changes().finally(() => this.#placeholders.release(placeholders));
        if (changed.length > 0) this.#changed.add(commonDir);
        return [
          ...(changed.length === 0 ? [] : [changeNotice(changed)]),
          ...(await this.#linkNotice(repository, links)),
          ...(await missingUpstream(files, repository, branch)),
        ];
      },
    };
  }

  /** A sentence about links to nested repositories that a command added to the index. `before`: the links before it. */
  async #linkNotice(repository: GitRepository, before: readonly string[]): Promise<readonly string[]> {
    const known = new Set(before);
    const added = (await this.#guards.links(repository)).filter((folder) => !known.has(folder));
    return added.length === 0 ? [] : [linkNotice(added)];
  }

  /**
   * Keeps commands from creating what does not exist at these paths. Resolves with the placeholders, which must be
   * released when the command has ended.
   */
  async mask(placeholders: readonly Placeholder[]): Promise<readonly Placeholder[]> {
    // The sandbox of macOS refuses by path, whether something is there or not.
    if (this.#ports.platform.machine.os !== "linux") return [];
    const held: Placeholder[] = [];
    for (const one of placeholders) {
      // Where the host cannot create it, the command cannot either: it is the same user.
      const isHeld = await this.#placeholders.hold([one]).then(
        () => true,
        () => false,
      );
      if (isHeld) held.push(one);
    }
    return held;
  }

  unmask(placeholders: readonly Placeholder[]): Promise<void> {
    return this.#placeholders.release(placeholders);
  }

  /** The access that a command would get. Opens nothing. */
  async explain(repository: GitRepository): Promise<Pick<OpenRepository, "writable" | "protected">> {
    const { files, machine } = this.#ports.platform;
    const { paths } = await protectionOf(files, repository, machine.userHome);
    return { writable: [repository.commonDir], protected: paths };
  }

  close(): Promise<void> {
    return this.#placeholders.close();
  }

  /** Removes placeholder files of hosts that died. */
  sweep(): Promise<void> {
    return this.#placeholders.sweep();
  }
}

/** Limit on the paths that a notice names. */
const MAX_NAMED = 10;

function named(paths: readonly string[]): string {
  const more = paths.length > MAX_NAMED ? ` and ${paths.length - MAX_NAMED} more` : "";
  return `${paths.slice(0, MAX_NAMED).join(", ")}${more}`;
}

function linkNotice(folders: readonly string[]): string {
  return (
    `These nested repositories were added to the index: ${named(folders)}. From now on \`git status\` looks into ` +
    `them, and runs programs that their configuration names. Check it, or take them out with \`git rm --cached\`.`
  );
}

function changeNotice(paths: readonly string[]): string {
  return (
    `These files decide which programs git runs, and they changed while a git command ran: ` +
    `${named(paths)}. Check them before the next git command. ` +
    `Commands in the sandbox can only read this repository from now on.`
  );
}
