import { Mark } from "./parts/icons.tsx";
import { LazyComponent } from "./parts/lazy-component.tsx";

/** The page that is shown until the first connection to the host is made, or if it fails. */
export function DisconnectedPage({ text, canRetry = false }: { text: string; canRetry?: boolean }) {
  return (
    <main class="welcome">
      <Mark />
      <h1>Bobbin</h1>
      <p class="dim" role="status">
        {text}
      </p>
      {canRetry ? (
        <button type="button" onClick={() => location.reload()}>
          Try again
        </button>
      ) : null}
      <p>
        <a href="/connect">How to connect a program</a>
      </p>
    </main>
  );
}

const loadLockedOutPage = async () => (await import("./locked-out-page.tsx")).LockedOutPage;

export function LockedOut({ why }: { why: string }) {
  return <LazyComponent load={loadLockedOutPage} props={{ why }} />;
}
