import "./style/base.css";
import "./style/layout.css";
import "./style/thread-list.css";
import "./style/thread-page.css";
import { render } from "preact";
import { App, preloadPage, preloadThreadPage } from "./app.tsx";
import { DisconnectedPage, LockedOut } from "./disconnected-page.tsx";
import { watchForProblems } from "./host/recent-problems.ts";
import { connectHost } from "./host-connection.ts";
import { NotLetIn, watchForLinks } from "./login-session.ts";
import { followAddress } from "./route.ts";
import { ThreadList } from "./thread-list/thread-list.ts";

const root = document.getElementById("console")!;

async function start(): Promise<void> {
  followAddress();
  watchForLinks();
  preloadPage();
  render(<DisconnectedPage text="Connecting …" />, root);
  const client = await connectHost();
  watchForProblems(client);
  const list = new ThreadList(client);
  void list.reload().finally(preloadThreadPage);
  render(<App client={client} list={list} />, root);
}

start().catch((cause: unknown) => {
  if (cause instanceof NotLetIn) return render(<LockedOut why={cause.message} />, root);
  render(<DisconnectedPage text={cause instanceof Error ? cause.message : String(cause)} canRetry />, root);
});
