import type { Verdict } from "./doctor-check-runner.ts";
import { identifyListener } from "./identify-listener.ts";

/** Checks whether a host could listen on a port, or already does. It connects to the port and does not open it. */
export async function portFinding(port: number, signal: AbortSignal): Promise<Verdict> {
  const listener = await identifyListener("127.0.0.1", port, signal);
  switch (listener.kind) {
    case "nobody":
      return { works: true, found: `${port} is free` };
    case "bobbin": {
      const { home, pid } = listener;
      const details = home === undefined ? "" : ` (home ${home}, process ${pid})`;
      return { works: true, found: `a Bobbin is listening on ${port}${details}` };
    }
    case "other":
      return {
        works: false,
        found: `another program is listening on ${port}`,
        advice: `Choose another port: bobbin app-server --listen ws://127.0.0.1:${port + 1}`,
      };
  }
}
