import { createInterface } from "node:readline";
import type { LoginAttempt } from "../oauth/login-attempt.ts";
import { LoginError } from "../oauth/login-error.ts";
import type { Output } from "./terminal-output.ts";

/**
 * Completes a login with a browser on another machine. Its redirect to loopback does not reach this machine, so the
 * user pastes the redirected URL here.
 */
export async function loginByPastedUrl(
  attempt: Pick<LoginAttempt, "done" | "paste">,
  stdout: Output,
): Promise<void> {
  stdout.line(
    "After the login the browser opens a URL that begins with http://127.0.0.1 or http://localhost. Paste that URL here:",
  );
  const lines = createInterface({ input: process.stdin });
  const ended = new Promise<never>((_, reject) => {
    lines.on("close", () => {
      const why = "The input ended before the URL was pasted.";
      if (!isTaken) reject(new LoginError("cancelled", why));
    });
  });
  let isTaken = false;
  lines.on("line", (line) => {
    if (line.trim() === "") return;
    attempt.paste(line.trim()).then(
      ({ ok, says }) => {
        if (!ok) stdout.line(says);
      },
      // `attempt.done` rejects, too, and its caller reports the error.
      () => {},
    );
  });
  try {
    await Promise.race([attempt.done, ended]);
  } finally {
    isTaken = true;
    lines.close();
  }
}
