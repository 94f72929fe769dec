// `bobbin chat` on a host that stands still. It takes as long as the chat's heartbeat needs.
import { expect, it, onTestFinished } from "vitest";
import { chat, prompted, timesShown } from "../support/chat-run.ts";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";

it("[CHAT-8] notices a host that stands still, and sends what was typed meanwhile once when it works again", async () => {
  const home = await freshFolder("home");
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"] });
  await host.urls();
  const { run } = await chat({ home }, "--reconnect", "600");
  await run.type("Hello!\r");
  await prompted(run, 1);
  host.signal("SIGSTOP");
  onTestFinished(() => host.signal("SIGCONT"));
  // After 10 to 20 seconds of silence the chat sends a request, and waits 10 seconds for the reply.
  await run.shows("The connection to the host was lost; reconnecting …\n", 1, 100_000);
  await run.type("Still there?\r");
  await run.shows("Still there?\n");
  host.signal("SIGCONT");
  await run.shows("Connected again.\n");
  await run.shows("You said: Still there?");
  await prompted(run, 2);
  expect(timesShown(run, "You said: Still there?")).toBe(1);
  expect(timesShown(run, "You said: Hello!")).toBe(1);
  await run.type("\x04");
  expect((await run.ended).code).toBe(0);
});
