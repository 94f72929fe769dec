import { runningTurn, type TurnState } from "@bobbin/client";
import type { ThreadFilesRestoreResponse } from "@bobbin/protocol";
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import "../style/revert.css";
import { attempt } from "../parts/request-failure.ts";
import { CancelButton, Dialog } from "./dialog.tsx";
import type { ThreadPageData } from "./thread-page-data.ts";

type What = "both" | "conversation" | "files";

const CHOICES: readonly (readonly [What, string])[] = [
  ["both", "The conversation and the files"],
  ["conversation", "The conversation only: the files stay as they are"],
  ["files", "The files only: the conversation stays as it is"],
];

/** A dialog that undoes a turn and all later ones. It first shows what will change, and afterwards what failed. */
export function RevertDialog({ page, turnId }: { page: ThreadPageData; turnId: string }) {
  const { client, session } = page;
  const state = session.state.value;
  const preview = useSignal<ThreadFilesRestoreResponse | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const outcome = useSignal<ThreadFilesRestoreResponse | undefined>(undefined);
  const what = useSignal<What | undefined>(undefined);
  const isWorking = useSignal(false);
  const isRunning = runningTurn(state) !== undefined;
  const request = { threadId: session.id, beforeTurnId: turnId };
  useEffect(() => {
    if (isRunning) return;
    const ask = async () => {
      await session.load();
      preview.value = await client.request("thread/files/restore", {
        threadId: session.id,
        beforeTurnId: turnId,
        dryRun: true,
      });
    };
    ask().catch((cause: unknown) => {
      problem.value = cause instanceof Error ? cause.message : String(cause);
    });
  }, [client, session, turnId, isRunning, preview, problem]);

  const at = state.turns.findIndex(({ id }) => id === turnId);
  const turns = at < 0 ? [] : state.turns.slice(at);
  const files = preview.value;
  const count = files === undefined ? 0 : files.restored.length + files.removed.length;
  const chosen = what.value ?? (count > 0 ? "both" : "conversation");
  const work = async (act: () => Promise<void>) => {
    isWorking.value = true;
    await attempt(act);
    isWorking.value = false;
  };
  const undo = async () => {
    if (chosen === "files") {
      outcome.value = await client.request("thread/files/restore", request);
      return;
    }
    const message = messageOf(turns[0]);
    const reply = await client.request("thread/revert", { ...request, restoreFiles: chosen === "both" });
    // The turn's message is put into the message field, where the user can change and send it again.
    session.draft.value = message;
    outcome.value = reply.files;
    if (reply.files === undefined || count + reply.files.failed.length === 0) page.dialog.value = undefined;
  };
  const overwrite = async () => {
    outcome.value = await client.request("thread/files/restore", { ...request, force: true });
  };
  const folder = state.settings?.cwd ?? state.thread?.cwd ?? "";
  if (outcome.value !== undefined)
    return (
      <Dialog page={page} name="What was undone">
        <h2>What was undone</h2>
        <FileLists files={outcome.value} folder={folder} words={DONE} />
        <div class="answers">
          <button
            type="button"
            class="primary"
            onClick={() => {
              page.dialog.value = undefined;
            }}
          >
            Close
          </button>
          {outcome.value.failed.some(({ canForce }) => canForce) ? (
            <button type="button" disabled={isWorking.value} onClick={() => void work(overwrite)}>
              Overwrite these files as well
            </button>
          ) : null}
        </div>
      </Dialog>
    );
  return (
    <Dialog page={page} name="Undo turns">
      <h2>{turns.length > 1 ? `Undo ${turns.length} turns` : "Undo the last turn"}</h2>
      {turns.length > 1 ? (
        <p>{`This turn and ${turns.length === 2 ? "the later one" : `${turns.length - 1} later ones`}.`}</p>
      ) : null}
      {turns.length === 0 ? null : (
        <blockquote>{messageOf(turns[0]) || "A turn without a message"}</blockquote>
      )}
      {isRunning ? <p role="status">A turn runs. Interrupt it first.</p> : null}
      {problem.value === undefined ? null : (
        <p class="problem" role="alert">
          {problem.value}
        </p>
      )}
      <fieldset>
        <legend>What to undo</legend>
        {CHOICES.map(([value, label]) => (
          <label key={value} class="option">
            <input
              type="radio"
              name="what"
              checked={chosen === value}
              disabled={value !== "conversation" && count === 0}
              onChange={() => {
                what.value = value;
              }}
            />
            {label}
          </label>
        ))}
      </fieldset>
      {files === undefined || (chosen === "conversation" && count > 0) ? null : (
        <FileLists files={files} folder={folder} words={PLANNED} />
      )}
      {files !== undefined && count === 0 ? (
        <p class="dim">These turns changed no file that can be restored.</p>
      ) : null}
      <p class="dim">
        Files that commands changed are known in git repositories only, and ignored ones are not.
      </p>
      <div class="answers">
        <button
          type="button"
          class="primary"
          disabled={isRunning || files === undefined || isWorking.value}
          onClick={() => void work(undo)}
        >
          {buttonText(chosen, turns.length, count)}
        </button>
        <CancelButton page={page} />
      </div>
    </Dialog>
  );
}

function buttonText(what: What, turns: number, files: number): string {
  const undone = turns === 1 ? "Remove the turn" : `Remove ${turns} turns`;
  const restored = files === 1 ? "1 file" : `${files} files`;
  if (what === "conversation") return undone;
  return what === "files" ? `Change ${restored} back` : `${undone}, and change ${restored} back`;
}

/** The text of the message that began a turn. */
function messageOf(turn: TurnState | undefined): string {
  const item = turn?.items.find(({ type }) => type === "userMessage");
  if (item?.type !== "userMessage") return "";
  return item.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

interface Words {
  readonly restored: string;
  readonly removed: string;
  readonly failed: string;
}

const PLANNED: Words = {
  restored: "Get their earlier content back",
  removed: "Are deleted, because they did not exist before",
  failed: "Stay as they are",
};

const DONE: Words = {
  restored: "Have their earlier content again",
  removed: "Were deleted",
  failed: "Could not be restored",
};

interface ListsProps {
  readonly files: ThreadFilesRestoreResponse;
  readonly folder: string;
  readonly words: Words;
}

function FileLists({ files: { restored, removed, failed }, folder, words }: ListsProps) {
  const short = (path: string) => (path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path);
  const list = (name: string, rows: readonly (readonly [path: string, reason: string])[]) =>
    rows.length === 0 ? null : (
      <section class="file-list" aria-label={name}>
        <h3>{name}</h3>
        {/* A long list is scrolled with the keyboard too. */}
        <ul tabIndex={0}>
          {rows.map(([path, reason]) => (
            <li key={path}>
              <span class="path">{short(path)}</span>
              {reason === "" ? null : <span class="dim">{reason}</span>}
            </li>
          ))}
        </ul>
      </section>
    );
  return (
    <>
      {list(
        words.restored,
        restored.map((path) => [path, ""] as const),
      )}
      {list(
        words.removed,
        removed.map((path) => [path, ""] as const),
      )}
      {list(
        words.failed,
        failed.map(({ path, reason }) => [path, reason] as const),
      )}
    </>
  );
}
