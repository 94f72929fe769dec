import { expect, it, onTestFinished } from "vitest";
import type { ChatSession } from "./chat-session.ts";
import { ChatSignals } from "./chat-signals.ts";

/** Signals with a stand-in for `process.exit`. */
function signals() {
  const exits: number[] = [];
  const said: string[] = [];
  const made = new ChatSignals(
    (line) => said.push(line),
    (code) => exits.push(code),
  );
  onTestFinished(() => made.close());
  return { signals: made, exits, said };
}

it("ends the process at once by a signal while the chat is being left", () => {
  const { signals: leaving, exits } = signals();
  leaving.leave();
  process.emit("SIGINT");
  process.emit("SIGTERM");
  expect(exits).toEqual([130, 143]);
});

it("interrupts a turn first, and breaks off what is waited for otherwise", async () => {
  const { signals: made, exits, said } = signals();
  let interrupts = 0;
  const session = { interrupt: () => interrupts++ } as unknown as ChatSession;
  let end!: () => void;
  const turn = made.during(session, () => new Promise<void>((resolve) => (end = resolve)));
  process.emit("SIGINT");
  expect([interrupts, said]).toEqual([1, ["\nInterrupting; Ctrl-C again leaves."]]);
  end();
  await turn;
  expect(made.exitCode).toBeUndefined();
  const never = made.unlessEnded(new Promise<string>(() => {}));
  process.emit("SIGTERM");
  expect(await never).toBeUndefined();
  expect([made.exitCode, made.isUrgent, exits]).toEqual([143, false, []]);
});
