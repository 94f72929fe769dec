import type { Thread, ThreadSection } from "@bobbin/protocol";
import { useEffect, useRef } from "preact/hooks";
import "../style/section-dialogs.css";
import { attempt } from "../parts/request-failure.ts";
import {
  createSection,
  deleteSection,
  moveThread,
  moveWithinSection,
  renameSection,
} from "./section-changes.ts";
import type { ThreadList } from "./thread-list.ts";
import { PINNED, type SectionGroup } from "./thread-sections.ts";

/** The purpose of a dialog about sections. */
export type SectionTask =
  | { readonly kind: "create" }
  | { readonly kind: "edit"; readonly section: ThreadSection }
  | { readonly kind: "move"; readonly thread: Thread; readonly title: string };

interface Props {
  readonly list: ThreadList;
  readonly task: SectionTask;
  onClose(): void;
}

/** Creates, renames or deletes a section, or moves a thread to one. */
export function SectionDialog({ list, task, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const act = (work: () => Promise<unknown>) => {
    dialog.current?.close();
    void attempt(work);
  };
  return (
    <dialog ref={dialog} class="section-dialog" aria-label={titleOf(task)} onClose={onClose}>
      <h2>{titleOf(task)}</h2>
      {task.kind === "move" ? (
        <MoveForm list={list} task={task} act={act} />
      ) : (
        <SectionForm list={list} task={task} act={act} />
      )}
      <button type="button" onClick={() => dialog.current?.close()}>
        Cancel
      </button>
    </dialog>
  );
}

function titleOf(task: SectionTask): string {
  switch (task.kind) {
    case "create":
      return "New section";
    case "edit":
      return "Section";
    case "move":
      return "Move to a section";
  }
}

interface FormProps<T extends SectionTask["kind"]> {
  readonly list: ThreadList;
  readonly task: Extract<SectionTask, { kind: T }>;
  act(work: () => Promise<unknown>): void;
}

function SectionForm({ list, task, act }: FormProps<"create" | "edit">) {
  const isNew = task.kind === "create";
  return (
    <>
      <NameForm
        label="Name"
        button={isNew ? "Create" : "Rename"}
        name={isNew ? "" : task.section.name}
        onName={(name) =>
          act(() => (isNew ? createSection(list, name) : renameSection(list, task.section.id, name)))
        }
      />
      {isNew ? null : (
        <>
          <p class="dim">If the section is deleted, its threads stay. They are in no section then.</p>
          <button type="button" onClick={() => act(() => deleteSection(list, task.section.id))}>
            Delete the section
          </button>
        </>
      )}
    </>
  );
}

function MoveForm({ list, task: { thread, title }, act }: FormProps<"move">) {
  const place = list.sections.placeOf(thread.id);
  const now = (place?.group.section ?? thread.section)?.id ?? null;
  const others = list.sections.groups.value.filter(({ section }) => section.id !== now);
  return (
    <>
      <p class="dim section-of">{title}</p>
      {place === undefined ? null : <PlaceButtons list={list} threadId={thread.id} place={place} />}
      <ul class="choices">
        {others.map(({ section }) => (
          <li key={section.id}>
            <button type="button" onClick={() => act(() => moveThread(list, thread.id, section))}>
              {section.id === PINNED ? "Pin" : section.name}
            </button>
          </li>
        ))}
        {now === null ? null : (
          <li>
            <button type="button" onClick={() => act(() => moveThread(list, thread.id, null))}>
              {now === PINNED ? "Unpin" : "No section"}
            </button>
          </li>
        )}
      </ul>
      <NameForm
        label="To a new section"
        button="Create and move"
        name=""
        onName={(name) => act(async () => moveThread(list, thread.id, await createSection(list, name)))}
      />
    </>
  );
}

interface PlaceProps {
  readonly list: ThreadList;
  readonly threadId: string;
  readonly place: { readonly group: SectionGroup; readonly at: number };
}

/** Moves a thread within its section. The dialog stays open, for the next step. */
function PlaceButtons({ list, threadId, place: { group, at } }: PlaceProps) {
  const move = (way: "up" | "down") => void attempt(() => moveWithinSection(list, threadId, way));
  const isLast = at === group.rows.length - 1 && group.next === null;
  return (
    <fieldset class="place">
      <legend>{`Place in ${group.section.name}: ${at + 1} of ${group.rows.length}${group.next === null ? "" : " or more"}`}</legend>
      <button type="button" disabled={at === 0} onClick={() => move("up")}>
        Move up
      </button>
      <button type="button" disabled={isLast} onClick={() => move("down")}>
        Move down
      </button>
    </fieldset>
  );
}

interface NameFormProps {
  readonly label: string;
  readonly button: string;
  readonly name: string;
  onName(name: string): void;
}

function NameForm({ label, button, name, onName }: NameFormProps) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const text = String(new FormData(event.currentTarget).get("name")).trim();
        if (text !== "") onName(text);
      }}
    >
      <label class="field">
        <span>{label}</span>
        <input class="text" name="name" defaultValue={name} maxLength={256} autocomplete="off" required />
      </label>
      <button type="submit" class="primary">
        {button}
      </button>
    </form>
  );
}
