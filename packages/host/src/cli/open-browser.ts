import { spawn } from "node:child_process";

/** Opens a URL in the user's browser, or in the program that `BROWSER` names. Resolves with false if there is none. */
export function openBrowser(address: string): Promise<boolean> {
  const program = browserOf(process.env);
  if (program === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(program, [address], { stdio: "ignore", detached: true });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}

function browserOf(env: NodeJS.ProcessEnv): string | undefined {
  if (env.BROWSER) return env.BROWSER;
  if (process.platform === "darwin") return "open";
  // Without a display, xdg-open would open a browser in the terminal, or none.
  return env.DISPLAY || env.WAYLAND_DISPLAY ? "xdg-open" : undefined;
}
