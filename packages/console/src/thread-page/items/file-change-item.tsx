import type { ThreadItem } from "@bobbin/protocol";
import { folderName } from "../../parts/file-paths.ts";
import { FileIcon } from "../../parts/icons.tsx";
import { LazyComponent } from "../../parts/lazy-component.tsx";
import { FoldedItem, type ItemState } from "./folded-item.tsx";

const loadDiffView = async () => (await import("./diff-view.tsx")).DiffView;

type FileChange = Extract<ThreadItem, { type: "fileChange" }>;

const STATES: Readonly<Record<FileChange["status"], ItemState>> = {
  inProgress: "running",
  completed: "done",
  failed: "failed",
  declined: "declined",
};
const VERBS = { add: "Add", delete: "Delete", update: "Edit" } as const;

/** A patch, file by file. */
export function FileChangeItem({ item: { changes, status } }: { item: FileChange }) {
  const [first] = changes;
  const title =
    changes.length === 1 && first !== undefined
      ? `${VERBS[first.kind.type]} ${folderName(first.path)}`
      : `Change ${changes.length} files`;
  return (
    <FoldedItem
      icon={<FileIcon />}
      title={title}
      facts={status === "declined" ? "declined" : ""}
      state={STATES[status]}
      isOpen={status !== "completed" || changes.length <= 3}
    >
      {changes.map(({ path, kind, diff }) => (
        <LazyComponent key={path} load={loadDiffView} props={{ path, kind, diff }} />
      ))}
    </FoldedItem>
  );
}
