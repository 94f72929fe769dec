import { protectionOf } from "./git-protection.ts";
import type { GitRepository } from "./git-repository.ts";
import { GitState } from "./git-state.ts";
import { Masks } from "./masks.ts";
import type { SandboxPorts } from "./sandbox.ts";

/** What a plain git command gets of its repository. */
export interface OpenRepository {
  readonly writable: readonly string[];
  readonly protected: readonly string[];
  /** When the command has ended. Resolves with sentences on what it changed and was undone. */
  close(): Promise<readonly string[]>;
}

/** Opens repositories for git commands, without letting them change which programs git runs. */
export class GitAccess {
  readonly #ports: SandboxPorts;
  readonly #masks: Masks;
  /** The latest state of each repository, so that it is read again only where it has changed. */
  readonly #states = new Map<string, GitState>();

  constructor(ports: SandboxPorts) {
    this.#ports = ports;
    this.#masks = new Masks(ports.platform, ports.home);
  }

  async open(repository: GitRepository): Promise<OpenRepository> {
    const { platform } = this.#ports;
    const { files, machine } = platform;
    const { commonDir } = repository;
    const { paths, absent, masks } = await protectionOf(files, repository, machine.userHome);
    await this.#masks.hold(masks);
    const watched = [...paths, ...absent];
    const state = await GitState.of(platform, watched, this.#states.get(watched.join("\0"))).catch(
      async (cause) => {
        await this.#masks.release(masks);
        throw cause;
      },
    );
    this.#states.set(watched.join("\0"), state);
    return {
      writable: [commonDir],
      protected: paths,
      close: async () => {
        const changed = await state.restore();
        await this.#masks.release(masks);
        return changed.map(
          (path) => `${path} was changed while a git command ran, and the change was undone`,
        );
      },
    };
  }

  /** What a command would get, without opening anything. */
  async explain(repository: GitRepository): Promise<Pick<OpenRepository, "writable" | "protected">> {
    const { files, machine } = this.#ports.platform;
    const { paths } = await protectionOf(files, repository, machine.userHome);
    return { writable: [repository.commonDir], protected: paths };
  }

  close(): Promise<void> {
    return this.#masks.close();
  }

  /** Removes what hosts left that died. */
  sweep(): Promise<void> {
    return this.#masks.sweep();
  }
}
