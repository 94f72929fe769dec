import { watch } from "node:fs";
import { basename } from "node:path";
import type { Watch } from "./machine-file-access.ts";

/** Watches a path by Node's `fs.watch`. */
export const nodeWatch: Watch = (path, changed) => {
  const name = basename(path);
  const watcher = watch(path, { persistent: false }, (event, entry) => {
    // A rename event with the watched path's own name may be about the path itself, or about an entry with the same
    // name.
    if (entry === null || (event === "rename" && entry === name)) changed({ kind: "unsure" });
    else changed({ kind: "entry", name: entry });
  });
  watcher.on("error", () => changed({ kind: "unsure" }));
  return { close: () => watcher.close() };
};
