import type { Verdict } from "./doctor-check.ts";
import { listenerAt } from "./listener.ts";

/** Whether a host could listen there, or one does already. Asks by connecting: nothing is opened. */
export async function portFinding(port: number, signal: AbortSignal): Promise<Verdict> {
  const listener = await listenerAt("127.0.0.1", port, signal);
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
