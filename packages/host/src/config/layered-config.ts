import { isDeepStrictEqual } from "node:util";
import { fault } from "../errors.ts";
import { type NotedFiles, StampedReads } from "../platform/file-read-cache.ts";
import type { Files } from "../platform/platform.ts";
import { ConfigError } from "./bad-config-error.ts";
import type { Config } from "./config.ts";
import { configPath, readConfigFile, TomlReader } from "./config-file.ts";
import { type Layer, mergeLayers } from "./layer.ts";
import { type LayerSources, readHomeLayers, systemFolders } from "./layer-files.ts";
import { configOf, type HomeFiles, withProvider } from "./load-config.ts";
import { type ProjectLayers, readProjectLayers } from "./project-layers.ts";
import { readProjects } from "./project-trust-reader.ts";
import { type RequirementFiles, readRequirementFiles } from "./requirement-files.ts";
import type { Requirements } from "./requirements.ts";
import type { Table } from "./table-reader.ts";

export { isTable, mergeLayers, originsOf, plain, valueAt } from "./layer.ts";
export type { Table } from "./table-reader.ts";

interface LayerOptions extends Pick<LayerSources, "profile" | "etc"> {
  /** The files that the host read when it started. */
  readonly started?: HomeFiles | undefined;
}

type LayerFiles = Pick<Files, "readText" | "exists" | "stamps" | "realPath">;

/** The configuration for one folder at one moment. The same object is returned until a file changes. */
export class ConfigSnapshot {
  /** The layers, the one with the highest precedence first. */
  readonly layers: readonly Layer[];
  /** The snapshot without the files of the project. */
  readonly base: ConfigSnapshot;
  /** Project files with keys that a project may not set. */
  readonly ignored: ProjectLayers["ignored"];
  readonly #hookTexts: ProjectLayers["hookTexts"];
  readonly required: RequirementFiles;
  readonly #home: string;
  #config: Config | undefined;

  constructor(
    home: string,
    { layers, required }: HomeFiles,
    project?: Omit<ProjectLayers, "layers"> & { readonly base: ConfigSnapshot },
  ) {
    this.layers = layers;
    this.required = required;
    this.base = project?.base ?? this;
    this.ignored = project?.ignored ?? [];
    this.#hookTexts = project?.hookTexts ?? [];
    this.#home = home;
  }

  /** Whether a project file is used. */
  get hasProject(): boolean {
    return this.layers.some(({ name, disabledReason }) => name.type === "project" && disabledReason === null);
  }

  /** Texts of the project's files that configure hooks, trusted or not. */
  get projectHooks(): readonly string[] {
    const own = this.layers.filter(({ name, config }) => name.type === "project" && "hooks" in config);
    return [...this.#hookTexts, ...own.map(({ text }) => text ?? "")];
  }

  /** The parsed configuration. Throws a ConfigError if a value is invalid. */
  get config(): Config {
    this.#config ??= withProvider(configOf(this, this.#home));
    return this.#config;
  }
}

/**
 * Reads the current configuration from disk. Its layers, the one with the highest precedence first: command line,
 * profile, project files, the user's `config.toml`, files of the machine. If no file has changed, a read only
 * compares their stamps.
 */
export class LayeredConfig {
  readonly #files: LayerFiles;
  readonly #sources: LayerSources;
  readonly #toml: TomlReader;
  readonly #snapshots: StampedReads<ConfigSnapshot>;
  /** The last snapshot without the files of a project. */
  #base: ConfigSnapshot | undefined;
  readonly home: string;
  /** Path of the user's `config.toml`. */
  readonly path: string;
  /** Folders with configuration for all users of the machine, the one with the highest precedence first. */
  readonly systemFolders: readonly string[];
  #changing: Promise<unknown> = Promise.resolve();

  constructor(
    files: LayerFiles,
    home: string,
    overrides: readonly string[],
    { started, ...more }: LayerOptions = {},
  ) {
    this.#files = files;
    this.#sources = { home, overrides, ...more };
    this.#base = started && new ConfigSnapshot(home, started);
    this.#toml = started?.toml?.through(files) ?? new TomlReader(files);
    this.#snapshots = new StampedReads(files);
    this.home = home;
    this.path = configPath(home);
    this.systemFolders = systemFolders(more.etc);
  }

  /**
   * Runs changes of the user's file one after the other, so that each change reads the result of the previous one.
   */
  exclusively<T>(change: () => Promise<T>): Promise<T> {
    const changed = this.#changing.then(change);
    this.#changing = changed.catch(() => {});
    return changed;
  }

  /**
   * Returns the layers, the one with the highest precedence first. With `cwd`, includes those of the project around
   * that folder.
   */
  async read(cwd?: string): Promise<readonly Layer[]> {
    return (await this.snapshot(cwd)).layers;
  }

  /** Reads the configuration for a folder. Throws `badConfig` if a file is invalid, for example while it is edited. */
  async snapshot(cwd?: string): Promise<ConfigSnapshot> {
    return readable(() =>
      this.#snapshots.get(cwd ?? "", async (files, before) => {
        const now = await this.#read(files, cwd);
        const isKnown = before?.base === now.base && isSame(before, now);
        return isKnown && isDeepStrictEqual(before.projectHooks, now.projectHooks) ? before : now;
      }),
    );
  }

  /** The last snapshot without the files of a project; undefined before the first read. */
  get lastBase(): ConfigSnapshot | undefined {
    return this.#base;
  }

  /** Returns the last result of `snapshot` for a folder, without checking the files. */
  lastSnapshot(cwd: string): ConfigSnapshot | undefined {
    return this.#snapshots.last(cwd);
  }

  /** Returns the paths and texts of the files in use, the one with the lowest precedence first. */
  async files(cwd?: string): Promise<readonly { readonly file: string; readonly text: string }[]> {
    const layers = (await this.read(cwd)).filter(({ disabledReason }) => disabledReason === null);
    return layers
      .flatMap(({ file, text }) => (file === null || text === undefined ? [] : [{ file, text }]))
      .reverse();
  }

  /** Returns the text of the user's file; undefined if it does not exist. */
  text(): Promise<string | undefined> {
    return readable(() => readConfigFile(this.#files, this.path));
  }

  /** Returns the layers as they would be with `text` as the user's file, without those of a project. */
  of(text: string | undefined): Promise<readonly Layer[]> {
    return readable(async () => {
      const hasFolder = (path: string) => this.#files.exists(path).catch(() => false);
      const { above, below } = await readHomeLayers(this.#toml, this.#sources, hasFolder, { text });
      return [...above, ...below];
    });
  }

  /** Reads the requirements on the configuration, whether its own files are valid or not. */
  requirements(): Promise<Requirements> {
    return readable(async () => {
      const hasFolder = (path: string) => this.#files.exists(path).catch(() => false);
      return (await readRequirementFiles(this.#toml, this.#sources, hasFolder)).requirements;
    });
  }

  /** Merges all layers into one table. */
  async merged(cwd?: string): Promise<Table> {
    return mergeLayers(await this.read(cwd));
  }

  async #read(files: NotedFiles, cwd: string | undefined): Promise<ConfigSnapshot> {
    const { home } = this;
    const toml = this.#toml.through(files);
    const hasFolder = (path: string) => files.exists(path).catch(() => false);
    const [{ above, below }, required] = await Promise.all([
      readHomeLayers(toml, this.#sources, hasFolder),
      readRequirementFiles(toml, this.#sources, hasFolder),
    ]);
    const own = { layers: [...above, ...below], required };
    if (this.#base === undefined || !isSame(this.#base, own)) this.#base = new ConfigSnapshot(home, own);
    const base = this.#base;
    if (cwd === undefined) return base;
    const projects = readProjects(mergeLayers(own.layers));
    const { layers, ...more } = await readProjectLayers(files, toml, { cwd, home, projects });
    if (layers.length === 0 && more.hookTexts.length === 0) return base;
    const all = { layers: [...above, ...layers, ...below], required };
    return new ConfigSnapshot(home, all, { base, ...more });
  }
}

function isSame(one: HomeFiles, other: HomeFiles): boolean {
  const texts = ({ layers, required }: HomeFiles) => [
    ...layers.map(({ file, text, disabledReason }) => [file, text, disabledReason]),
    ...required.files.map(({ file, text }) => [file, text]),
  ];
  return isDeepStrictEqual(texts(one), texts(other));
}

async function readable<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw cause instanceof ConfigError ? fault("badConfig", cause.message) : cause;
  }
}
