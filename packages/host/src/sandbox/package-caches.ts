import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ProgramStart } from "../platform/platform.ts";
import { type Access, isWithin } from "./access.ts";
import type { SandboxPorts } from "./sandbox.ts";

/** Variables for caches that builds and installers always write to. They fail if they cannot write. */
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
 * Variables for download caches. They are set only with network access: without it nothing is downloaded, and the
 * user's own caches can be read.
 */
const DOWNLOADS: Readonly<Record<string, string>> = {
  npm_config_devdir: "node-gyp",
  PIP_CACHE_DIR: "pip",
  CARGO_HOME: "cargo",
  GOMODCACHE: "go-mod",
};

/** https://bford.info/cachedir: backup programs skip a folder with this file. */
const TAG =
  "Signature: 8a477f597d28d172789f06886806bc55\n# Package caches of confined commands. Can be deleted.\n";

/**
 * Cache folders for package managers. Sandboxed commands use them instead of the user's caches, so that their content
 * is never used outside of the sandbox. Each workspace has its own.
 */
export class PackageCaches {
  readonly #ports: SandboxPorts;
  readonly #folders = new Map<string, Promise<string | undefined>>();

  constructor(ports: SandboxPorts) {
    this.#ports = ports;
  }

  /** Makes the cache folder writable for a command, and points package managers at it. */
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

  /** The cache folder of a workspace, created with its first use; undefined if it cannot be created. */
  folderOf(roots: readonly string[]): Promise<string | undefined> {
    const name = createHash("sha256").update(roots.join("\0")).digest("hex").slice(0, 16);
    const made = this.#folders.get(name) ?? this.#create(join(this.#ports.home, "sandbox-caches", name));
    this.#folders.set(name, made);
    return made;
  }

  async #create(parent: string): Promise<string | undefined> {
    const { platform } = this.#ports;
    const { files, env } = platform;
    // Written beside the folder, because the host writes nothing into a folder that commands control.
    const tag = join(parent, "CACHEDIR.TAG");
    const folder = join(parent, "files");
    if (!(await files.exists(tag))) {
      const caches = env["XDG_CACHE_HOME"] || join(platform.machine.userHome, ".cache");
      const made = await platform.spawn({
        argv: ["/bin/sh", "-c", CREATE_SCRIPT, "sh", folder, caches],
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

/** Creates the folder, with symlinks to the user's own caches, so that commands can still read these. */
const CREATE_SCRIPT = `
mkdir -p -m 700 "$1/xdg" || exit 1
for cache in "$2"/*; do
  [ ! -d "$cache" ] || ln -s "$cache" "$1/xdg/" 2>/dev/null || :
done
`;
