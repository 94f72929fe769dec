import { parentPort } from "node:worker_threads";
import { nodeFileSearchAccess } from "../platform/node-file-search-access.ts";
import { Searches, type SearchOrder } from "./file-search-scheduler.ts";

// The worker thread of fuzzy file searches. It reads folders and scores paths, so that the host's event loop stays free.

const port = parentPort!;
const searches = new Searches(
  {
    files: nodeFileSearchAccess(),
    now: () => performance.now(),
    pause: () => new Promise((resolve) => setImmediate(resolve)),
  },
  (news) => port.postMessage(news),
);

port.on("message", (order: SearchOrder) => {
  void searches.take(order);
});
