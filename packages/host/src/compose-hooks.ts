import type { Config } from "./config/config.ts";
import { configPath } from "./config/config-file.ts";
import { configFolder } from "./config/home-folder.ts";
import { hostSecretNames } from "./config/host-secret-names.ts";
import { Layer } from "./config/layer.ts";
import type { ConfigSnapshot, LayeredConfig } from "./config/layered-config.ts";
import { hookLayers } from "./hooks/hook-layers.ts";
import { Hooks } from "./hooks/thread-hooks.ts";
import { UserNotifier } from "./hooks/user-notifier.ts";
import type { Log } from "./observe/log.ts";
import type { Supervisor } from "./observe/supervise.ts";
import type { Platform } from "./platform/platform.ts";
import { commandEnvironment } from "./process/command-environment.ts";
import type { ProcessManager } from "./process/process-manager.ts";
import { SUBJECT } from "./server/owner-access.ts";
import type { Actor } from "./thread/actor.ts";
import type { ExecSource } from "./tool/exec/exec-source.ts";
import type { ModelHistories } from "./turn/context/model-history.ts";
import { ObservingHooks } from "./turn/observing-hooks.ts";

export interface ComposeHookPorts {
  readonly home: string;
  readonly cwd: string;
  readonly platform: Platform;
  readonly supervisor: Supervisor;
  readonly exec: ExecSource;
  readonly processes: ProcessManager;
  readonly log: Log;
  readonly modelHistories: ModelHistories;
  readonly layers: LayeredConfig;
  config(): Config;
  /** Whether hooks run in a thread that are not required by an administrator. */
  isOn(threadId: string): boolean;
  actorOf(threadId: string): Actor | undefined;
}

/** Creates the hooks, and the notifier that runs the user's `notify` program. */
export function composeHooks(ports: ComposeHookPorts): {
  readonly hooks: Hooks;
  readonly observing: ObservingHooks;
  readonly notifier: UserNotifier;
} {
  const { home, platform, supervisor, exec, layers, config, actorOf } = ports;
  const hooks = new Hooks({
    files: platform.files,
    folder: configFolder(home),
    clock: platform.clock,
    layers: () => hookLayers(layers, layers.lastBase ?? layersWithoutFiles(config(), home)),
    projects: () => config().projects,
    mayRun: ({ facts }) => !facts.owner.startsWith(SUBJECT),
    isOn: ports.isOn,
    run: (thread, command, signal) => exec.runHookCommand(thread, command, signal),
  });
  const notifier = new UserNotifier({
    platform,
    processes: ports.processes,
    log: ports.log,
    cwd: ports.cwd,
    target: () => config().notify,
    environment: () => {
      const { shellEnvironment } = config();
      return commandEnvironment(platform.env, hostSecretNames(config()), shellEnvironment).env;
    },
    isWatched: ({ facts }) => !facts.owner.startsWith(SUBJECT),
    past: async (threadId) => {
      const actor = actorOf(threadId);
      return actor === undefined ? [] : ports.modelHistories.read(actor.journal, actor.head);
    },
  });
  return { hooks, observing: new ObservingHooks({ platform, supervisor, hooks, actorOf }), notifier };
}

/** The layers of a host whose configuration was not read from files. */
function layersWithoutFiles(
  { hooks, requirements }: Config,
  home: string,
): Pick<ConfigSnapshot, "layers" | "required"> {
  const file = configPath(home);
  const layer = new Layer({ name: { type: "user", file, profile: null }, file, table: { hooks } });
  return { layers: [layer], required: { files: [], requirements } };
}
