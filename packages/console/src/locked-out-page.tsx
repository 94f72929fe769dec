import { Mark } from "./parts/icons.tsx";

/** The page for a browser that has no valid session with the host. */
export function LockedOutPage({ why }: { why: string }) {
  return (
    <main class="welcome">
      <Mark />
      <h1>A link is needed</h1>
      <p class="dim" role="alert">
        {why}
      </p>
      <p>Run this on the host’s machine. It opens the console with a link that works once:</p>
      <pre class="command">bobbin open</pre>
    </main>
  );
}
