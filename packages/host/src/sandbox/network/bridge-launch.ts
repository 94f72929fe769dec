import type { ProgramStart } from "../../platform/platform.ts";
import { type Access, isWithin } from "../access.ts";
import { BRIDGE_PORT, bridgeScript } from "./bridge.ts";
import type { HostRules } from "./host-rules.ts";
import { proxyEnvironment } from "./proxy-environment.ts";

const SHELL = "/bin/sh";

/**
 * A shell script that starts the bridge, waits until it listens, and then executes the program. So the program keeps
 * its own exit code, signals, terminal and input. The subshell ends at once, so the bridge is not a child of the
 * program.
 */
function startScript(input: number, output: number): string {
  return [
    "node=$1 bridge=$2; shift 2",
    'ready=$(NODE_OPTIONS= NODE_V8_COVERAGE= "$node" -e "$bridge" </dev/null 2>/dev/null &)',
    `exec ${input}<&- ${output}>&-`,
    '[ "$ready" = ready ] || { echo "The bridge to the network cannot be started." >&2; exit 126; }',
    "unset ready node bridge",
    'exec "$@"',
  ].join("\n");
}

/**
 * Wraps a program so that a bridge is started with it. The channel has the descriptor `first` to read from, and the
 * next one to write to.
 */
export function withBridge(program: ProgramStart, hosts: HostRules, first: number): ProgramStart {
  const [input, output] = [first, first + 1];
  return {
    ...program,
    argv: [
      SHELL,
      "-c",
      startScript(input, output),
      "sh",
      process.execPath,
      bridgeScript({ input, output }),
      ...program.argv,
    ],
    env: { ...program.env, ...proxyEnvironment(BRIDGE_PORT, process.execPath, hosts) },
  };
}

/** Makes the Node executable, which runs the bridge, readable for a command. */
export function withNodeVisible(access: Access): Access {
  const path = process.execPath;
  const { readOnly, hidden, readable } = access;
  const isHidden = hidden.some((one) => isWithin(path, one.path));
  return {
    ...access,
    readOnly:
      readOnly === null || readOnly.some((one) => isWithin(path, one)) ? readOnly : [...readOnly, path],
    readable: isHidden && !readable.includes(path) ? [...readable, path] : readable,
  };
}
