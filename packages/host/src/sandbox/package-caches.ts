import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ProgramStart } from "../platform/platform.ts";
import { type Access, isWithin } from "./access.ts";
import type { SandboxPorts } from "./sandbox.ts";

/** Where builds and installers write in any case, and fail if they cannot. */
const ALWAYS: Readonly<Record<string, string>> = {
  XDG_CACHE_HOME: "xdg",
  GOCACHE: "go-build",
  npm_config_cache: "npm",
  npm_config_logs_dir: "npm-logs",
  npm_config_store_dir: "pnpm",
  YARN_CACHE_FOLDER: "yarn",
  UV_CACHE_DIR: "uv",
};

/**
 * Where others put what they download. Only with network: without it nothing new comes, and what is in the user's own
 * folders is found there.
 */
const DOWNLOADS: Readonly<Record<string, string>> = {
  npm_config_devdir: "node-gyp",
  PIP_CACHE_DIR: "pip",
  CARGO_HOME: "cargo",
  GOMODCACHE: "go-mod",
};

/** https://bford.info/cachedir: backups leave out a folder with this file. */
const TAG =
  "Signature: 8a477f597d28d172789f06886806bc55\n# Package caches of confined commands. Can be deleted.\n";

/**
 * Folders for the caches of package managers, which confined commands write in place of those of the user: what they put
 * there is never used outside of the sandbox. Each workspace has its own.
 */
export class PackageCaches {
  readonly #ports: SandboxPorts;
  readonly #made = new Map<string, Promise<string | undefined>>();

  constructor(ports: SandboxPorts) {
    this.#ports = ports;
  }

  /** Adds the cache folder to what a command may write, and points package managers at it. */
  redirect(
    folder: string,
    program: ProgramStart,
    access: Access,
  ): { readonly program: ProgramStart; readonly access: Access } {
    const wanted = { ...ALWAYS, ...(access.network !== "none" ? DOWNLOADS : {}) };
    const changes = Object.entries(wanted).filter(([name]) => {
      const set = program.env[name];
      return set === undefined || !access.writable.some((root) => isWithin(set, root));
    });
    const env = Object.fromEntries(changes.map(([name, below]) => [name, join(folder, below)]));
    return {
      program: { ...program, env: { ...program.env, ...env } },
      access: { ...access, writable: [...access.writable, folder] },
    };
  }

  /** Made with its first use by any host; undefined where it cannot be made. */
  folderOf(roots: readonly string[]): Promise<string | undefined> {
    const name = createHash("sha256").update(roots.join("\0")).digest("hex").slice(0, 16);
    const made = this.#made.get(name) ?? this.#make(join(this.#ports.home, "sandbox-caches", name));
    this.#made.set(name, made);
    return made;
  }

  async #make(parent: string): Promise<string | undefined> {
    const { platform } = this.#ports;
    const { files, env } = platform;
    // Beside the folder, not in it: nothing in there is touched from outside again.
    const tag = join(parent, "CACHEDIR.TAG");
    const folder = join(parent, "files");
    if (!(await files.exists(tag))) {
      const caches = env["XDG_CACHE_HOME"] || join(platform.machine.userHome, ".cache");
      const made = await platform.spawn({
        argv: ["/bin/sh", "-c", MAKE, "sh", folder, caches],
        cwd: "/",
        env: { PATH: env["PATH"] ?? "/usr/bin:/bin" },
        stdin: "closed",
      });
      made.stopReading();
      const { code } = await made.exited;
      if (code !== 0) return undefined;
      await files.replaceText(tag, TAG);
    }
    return files.realPath(folder);
  }
}

/** What the user's cache folder has is visible in the new one: read-only, as it is behind links. */
const MAKE = `
mkdir -p -m 700 "$1/xdg" || exit 1
for cache in "$2"/*; do
  [ ! -d "$cache" ] || ln -s "$cache" "$1/xdg/" 2>/dev/null || :
done
`;
