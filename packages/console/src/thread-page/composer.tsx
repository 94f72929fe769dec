import type { Bobbin } from "@bobbin/client";
import type { UserInput } from "@bobbin/protocol";
import { type Signal, useSignal } from "@preact/signals";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { safePicture } from "../markdown/safe-link.ts";
import { CrossIcon, SendIcon, StopIcon } from "../parts/icons.tsx";
import { LazyComponent } from "../parts/lazy-component.tsx";
import { failure } from "../parts/request-failure.ts";
import { type CompletionTrigger, triggerAt } from "./completion-trigger.ts";
import { type Mentions, messageInput } from "./message-input.ts";
import type { ThreadPageData } from "./thread-page-data.ts";
import { storedUnsent, storeUnsent } from "./unsent-message.ts";

/** Limit on the bytes of an attached picture. A protocol message may have 64 MiB. */
const MAX_PICTURE_BYTES = 8 * 1024 * 1024;

export type SendHow = "start" | "steer" | "queue";

/** The sources of suggestions for the message field. */
export interface Assist {
  readonly client: Bobbin;
  /** The folder whose files and skills are suggested. Empty for the host's own folder, to which relative paths refer. */
  readonly folder: string;
  /** The thread that commands are about; absent if it is not started yet. */
  readonly page?: ThreadPageData;
}

/** The data and callbacks that the message field and its list of suggestions share. */
export interface SuggestionsProps {
  readonly assist: Assist;
  readonly trigger: CompletionTrigger;
  /** Handles a key that was pressed in the field. Returns false if the list does not use the key. */
  readonly keys: { current: ((event: KeyboardEvent) => boolean) | undefined };
  /** The id of the active option. */
  readonly activeId: Signal<string | undefined>;
  /** Replaces the word at the caret by `insert`, which mentions the file `path`. `submit`: also sends the message. */
  onChoose(insert: string, how?: { readonly path?: string; readonly submit?: boolean }): void;
  onDismiss(): void;
}

const loadSuggestions = async () => (await import("./suggestions.tsx")).Suggestions;

interface Props {
  readonly assist?: Assist | undefined;
  /** Names the unsent message in the browser's storage: it outlives the page, not the window. */
  readonly storedAs: string;
  /** A text that is put into the field if the field is empty. */
  readonly draft?: Signal<string | undefined>;
  readonly isRunning: boolean;
  readonly placeholder: string;
  readonly autofocus?: boolean;
  /** Resolves with whether the message was sent. If not, the text is put back into the field. */
  onSend(input: UserInput[], how: SendHow): Promise<boolean>;
  onInterrupt(): void;
}

/** The field for the next message. Enter sends it; while a turn runs, it steers that turn, and Alt+Enter queues. */
export function Composer({
  assist,
  storedAs,
  draft,
  isRunning,
  placeholder,
  autofocus = false,
  onSend,
  onInterrupt,
}: Props) {
  const field = useRef<HTMLTextAreaElement>(null);
  const stored = useMemo(() => storedUnsent(storedAs), [storedAs]);
  const text = useSignal(stored.text);
  const mentions = useSignal<Mentions>(stored.mentions);
  const trigger = useSignal<CompletionTrigger | undefined>(undefined);
  const dismissedAt = useRef<number | undefined>(undefined);
  const keys = useRef<((event: KeyboardEvent) => boolean) | undefined>(undefined);
  const activeId = useSignal<string | undefined>(undefined);
  const pictures = useSignal<readonly string[]>([]);
  const isSending = useSignal(false);
  useEffect(() => {
    if (autofocus) field.current?.focus();
  }, [autofocus]);
  const unsent = text.value;
  const mentioned = mentions.value;
  // A layout effect runs with the change itself, so that a reload right after it loses nothing.
  useLayoutEffect(
    () => storeUnsent(storedAs, { text: unsent, mentions: mentioned }),
    [storedAs, unsent, mentioned],
  );
  const drafted = draft?.value;
  useEffect(() => {
    if (drafted === undefined) return;
    draft!.value = undefined;
    if (text.value.trim() === "") text.value = drafted;
  }, [draft, drafted, text]);
  const isEmpty = text.value.trim() === "" && pictures.value.length === 0;

  const send = async (how: SendHow) => {
    const hasNothing = text.value.trim() === "" && pictures.value.length === 0;
    if (hasNothing || isSending.value) return;
    isSending.value = true;
    trigger.value = undefined;
    const sent = { text: text.value, mentions: mentions.value, pictures: pictures.value };
    text.value = "";
    pictures.value = [];
    mentions.value = new Map();
    if (!(await onSend(messageInput(sent.text, sent.mentions, sent.pictures), how))) {
      // The unsent message is put back, before the text that was typed meanwhile.
      text.value = text.value === "" ? sent.text : `${sent.text}\n${text.value}`;
      pictures.value = [...sent.pictures, ...pictures.value];
      mentions.value = new Map([...sent.mentions, ...mentions.value]);
    }
    isSending.value = false;
    field.current?.focus();
  };
  /** Finds a word with suggestions at the caret. Dismissed suggestions stay away until the caret leaves the word. */
  const look = useCallback(() => {
    const { selectionStart, selectionEnd } = field.current!;
    const found = selectionStart === selectionEnd ? triggerAt(text.value, selectionEnd) : undefined;
    if (found?.from !== dismissedAt.current) dismissedAt.current = undefined;
    trigger.value = dismissedAt.current === undefined ? found : undefined;
  }, [text, trigger]);
  const submit = useRef(send);
  submit.current = send;
  const choose: SuggestionsProps["onChoose"] = useCallback(
    (insert, how = {}) => {
      const { from, to } = trigger.value!;
      field.current!.setRangeText(`${insert} `, from, to, "end");
      text.value = field.current!.value;
      if (how.path !== undefined) mentions.value = new Map([...mentions.value, [insert, how.path]]);
      look();
      if (how.submit) void submit.current("start");
    },
    [trigger, text, mentions, look],
  );
  const dismiss = useCallback(() => {
    dismissedAt.current = trigger.value?.from;
    trigger.value = undefined;
  }, [trigger]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (trigger.value !== undefined && !event.isComposing && keys.current?.(event)) {
      event.preventDefault();
      return;
    }
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void send(!isRunning ? "start" : event.altKey ? "queue" : "steer");
  };
  const onPaste = (event: ClipboardEvent) => {
    const files = [...(event.clipboardData?.files ?? [])].filter(({ type }) => type.startsWith("image/"));
    if (files.length === 0) return;
    event.preventDefault();
    for (const file of files) {
      if (file.size > MAX_PICTURE_BYTES) {
        failure.value = "A picture of more than 8 MiB is not attached.";
        continue;
      }
      const reader = new FileReader();
      reader.onload = () => {
        const url = safePicture(String(reader.result));
        if (url !== undefined) pictures.value = [...pictures.value, url];
        else failure.value = `Pictures of the type ${file.type} are not attached.`;
      };
      reader.readAsDataURL(file);
    }
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send(isRunning ? "steer" : "start");
      }}
    >
      {pictures.value.length === 0 ? null : (
        <ul class="pictures" aria-label="Pictures to send">
          {pictures.value.map((url, at) => (
            <li key={at}>
              <img src={url} alt={`Attachment ${at + 1}`} />
              <button
                type="button"
                aria-label={`Remove picture ${at + 1}`}
                onClick={() => {
                  pictures.value = pictures.value.filter((_, index) => index !== at);
                }}
              >
                <CrossIcon />
              </button>
            </li>
          ))}
        </ul>
      )}
      {assist !== undefined && trigger.value !== undefined ? (
        <LazyComponent
          load={loadSuggestions}
          props={{ assist, trigger: trigger.value, keys, activeId, onChoose: choose, onDismiss: dismiss }}
        />
      ) : null}
      <textarea
        ref={field}
        rows={1}
        dir="auto"
        value={text.value}
        placeholder={placeholder}
        aria-label={placeholder}
        {...(activeId.value !== undefined && {
          "aria-autocomplete": "list" as const,
          "aria-controls": activeId.value.replace(/-\d+$/, ""),
          "aria-activedescendant": activeId.value,
        })}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          look();
        }}
        onKeyUp={look}
        onClick={look}
        onBlur={() => {
          trigger.value = undefined;
        }}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      <div class="composer-buttons">
        {isRunning ? (
          <>
            <button type="button" disabled={isEmpty || isSending.value} onClick={() => void send("queue")}>
              Queue
            </button>
            <button type="submit" disabled={isEmpty || isSending.value}>
              Steer
            </button>
            <button type="button" class="round stop" aria-label="Interrupt" onClick={onInterrupt}>
              <StopIcon />
            </button>
          </>
        ) : (
          <button type="submit" class="round primary" aria-label="Send" disabled={isEmpty || isSending.value}>
            <SendIcon />
          </button>
        )}
      </div>
    </form>
  );
}
