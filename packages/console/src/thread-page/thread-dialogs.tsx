import { attempt } from "../parts/request-failure.ts";
import { CancelButton, Dialog } from "./dialog.tsx";
import { GoalDialog } from "./goal-dialog.tsx";
import { RevertDialog } from "./revert-dialog.tsx";
import { rename } from "./thread-actions.ts";
import type { ThreadDialog, ThreadPageData } from "./thread-page-data.ts";
import { titleOf } from "./thread-title.ts";

interface Props {
  readonly page: ThreadPageData;
  readonly dialog: ThreadDialog;
}

/** The open dialog about a thread. */
export function ThreadDialogs({ page, dialog }: Props) {
  switch (dialog.kind) {
    case "rename":
      return <RenameDialog page={page} />;
    case "goal":
      return <GoalDialog page={page} />;
    case "revert":
      return <RevertDialog page={page} turnId={dialog.turnId} />;
  }
}

function RenameDialog({ page }: { page: ThreadPageData }) {
  const state = page.session.state.value;
  return (
    <Dialog page={page} name="Rename the thread">
      <form
        method="dialog"
        onSubmit={(event) => {
          const name = String(new FormData(event.currentTarget).get("name")).trim();
          if (name !== "") void attempt(() => rename(page, name));
        }}
      >
        <label class="field">
          <span>Name</span>
          <input class="text" name="name" defaultValue={titleOf(state)} maxLength={200} autocomplete="off" />
        </label>
        <div class="answers">
          <button type="submit" class="primary">
            Rename
          </button>
          <CancelButton page={page} />
        </div>
      </form>
    </Dialog>
  );
}
