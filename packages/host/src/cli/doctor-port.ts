import { get } from "node:http";
import type { Verdict } from "./doctor-check.ts";

/** A Bobbin answers at once; what is silent for this long is none. */
const SILENCE_MS = 2_000;

/** Whether a host could listen there, or one does already. Asks by connecting: nothing is opened. */
export async function portFinding(port: number, signal: AbortSignal): Promise<Verdict> {
  const answer = await healthOf(port, signal);
  if (answer === "nobody") return { works: true, found: `${port} is free` };
  if (answer === "bobbin") return { works: true, found: `a Bobbin listens on ${port}` };
  return {
    works: false,
    found: `something else listens on ${port}`,
    advice: `Choose another: bobbin app-server --listen ws://127.0.0.1:${port + 1}`,
  };
}

function healthOf(port: number, signal: AbortSignal): Promise<"nobody" | "bobbin" | "other"> {
  return new Promise((resolve) => {
    const options = { host: "127.0.0.1", port, path: "/healthz", signal, agent: false, timeout: SILENCE_MS };
    const request = get(options, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        body += text;
        if (body.length > 100) response.destroy();
      });
      response.on("error", () => {});
      response.on("close", () =>
        resolve(response.statusCode === 200 && body === "ok\n" ? "bobbin" : "other"),
      );
    });
    request.on("timeout", () => request.destroy());
    request.on("error", (error: NodeJS.ErrnoException) => {
      resolve(error.code === "ECONNREFUSED" ? "nobody" : "other");
    });
  });
}
