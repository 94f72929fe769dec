import type { Bobbin } from "@bobbin/client";
import type { Model, UserInput } from "@bobbin/protocol";
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { BackIcon, Mark } from "../parts/icons.tsx";
import { attempt } from "../parts/request-failure.ts";
import { go, threadHref } from "../route.ts";
import { Composer } from "../thread-page/composer.tsx";
import { runMessageCommand } from "../thread-page/run-message-command.ts";

const ACCESS = [
  ["", "As configured"],
  ["read-only", "Read only"],
  ["workspace-write", "Write in the folder"],
  ["danger-full-access", "Everything"],
] as const;

interface Props {
  readonly client: Bobbin;
  readonly folders: readonly string[];
}

/** Starts a thread with its first message. */
export function NewThreadPage({ client, folders }: Props) {
  const models = useSignal<readonly Model[]>([]);
  const model = useSignal("");
  const folder = useSignal("");
  const access = useSignal<(typeof ACCESS)[number][0]>("");
  useEffect(() => {
    document.title = "New thread · Bobbin";
    void attempt(async () => {
      models.value = (await client.request("model/list", {})).data;
    });
  }, [client, models]);
  const assist = { client, folder: folder.value.trim() };
  const start = async (message: UserInput[]) => {
    const input = await runMessageCommand(assist, message);
    if (input === undefined) return;
    await (await import("./folder-check.ts")).checkFolder(client, assist.folder);
    // The thread is followed from its first notification on.
    const thread = await client.startThread({
      ...(assist.folder !== "" && { cwd: assist.folder }),
      ...(model.value !== "" && { model: model.value }),
      ...(access.value !== "" && { sandbox: access.value }),
    });
    await client.request("turn/start", { threadId: thread.id, input });
    go(threadHref(thread.id));
  };
  return (
    <main class="new-page">
      <header class="page-head narrow-only">
        <a class="button quiet back" href="#/" aria-label="All threads">
          <BackIcon />
        </a>
      </header>
      <div class="column">
        <Mark />
        <h1>What should be done?</h1>
        <Composer
          assist={assist}
          storedAs="bobbin-unsent"
          isRunning={false}
          autofocus
          placeholder="Message …"
          onSend={(input) => attempt(() => start(input))}
          onInterrupt={() => {}}
        />
        <div class="settings">
          <label class="field">
            <span>Folder</span>
            <input
              class="text"
              list="known-folders"
              placeholder="The host’s own folder"
              value={folder.value}
              onInput={(event) => {
                folder.value = event.currentTarget.value;
              }}
            />
            <datalist id="known-folders">
              {folders.map((path) => (
                <option key={path} value={path} />
              ))}
            </datalist>
          </label>
          <label class="field">
            <span>Model</span>
            <select
              value={model.value}
              onChange={(event) => {
                model.value = event.currentTarget.value;
              }}
            >
              <option value="">As configured</option>
              {models.value.map(({ id, displayName }) => (
                <option key={id} value={id}>
                  {displayName}
                </option>
              ))}
            </select>
          </label>
          <label class="field">
            <span>Access</span>
            <select
              value={access.value}
              onChange={(event) => {
                access.value = event.currentTarget.value as typeof access.value;
              }}
            >
              {ACCESS.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        </div>
      </div>
    </main>
  );
}
