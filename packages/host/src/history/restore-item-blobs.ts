import type { ThreadItem, Turn } from "@bobbin/protocol";
import type { Notification } from "../core/notification.ts";
import { blobNameOf } from "../core/turn/blobs.ts";

/** Reads a blob by its name; undefined if it is missing. */
type ReadBlob = (name: string) => Promise<Uint8Array | undefined>;

/** Limit on the bytes of blobs that are inserted into one reply. Blobs of newer items are inserted first. */
const MAX_RESTORED_BYTES = 32 * 1024 * 1024;

/** The bytes of blobs that may still be inserted. */
interface Budget {
  bytes: number;
}

/** Whether an item contains references to blobs in place of content. */
function lacksBlobs(item: ThreadItem): item is Extract<ThreadItem, { type: "mcpToolCall" }> {
  return (
    item.type === "mcpToolCall" &&
    (item.result?.content.some((block) => blobNameIn(block) !== undefined) ?? false)
  );
}

/** Inserts the blobs of a notification's item; undefined if the item has none. */
export function notificationWithBlobs(
  notification: Notification,
  readBlob: ReadBlob,
): Promise<Notification> | undefined {
  const { method, params } = notification;
  if (method !== "item/started" && method !== "item/completed") return undefined;
  if (!lacksBlobs(params.item)) return undefined;
  return itemWithBlobs(params.item, readBlob, { bytes: MAX_RESTORED_BYTES }).then(
    (item) => ({ ...notification, params: { ...params, item } }) as Notification,
  );
}

/** Inserts the blobs into all notifications in place; undefined if there are none, as in most commits. */
export function restoreBlobs(
  lists: readonly Notification[][],
  readBlob: ReadBlob,
): Promise<unknown> | undefined {
  let pending: Promise<unknown>[] | undefined;
  for (const list of lists) {
    for (const [at, notification] of list.entries()) {
      const restoring = notificationWithBlobs(notification, readBlob)?.then((one) => {
        list[at] = one;
      });
      if (restoring !== undefined) pending = [...(pending ?? []), restoring];
    }
  }
  return pending && Promise.all(pending);
}

/** Inserts the blobs of the items, from the last item to the first, until the reply's limit is reached. */
export async function itemsWithBlobs(
  items: readonly ThreadItem[],
  readBlob: ReadBlob,
): Promise<ThreadItem[]> {
  return itemsWithBlobsWithin(items, readBlob, { bytes: MAX_RESTORED_BYTES });
}

/** Inserts the blobs of the turns' items, from the last turn to the first, until the reply's limit is reached. */
export async function turnsWithBlobs(turns: readonly Turn[], readBlob: ReadBlob): Promise<Turn[]> {
  if (!turns.some(({ items }) => items.some(lacksBlobs))) return [...turns];
  const budget = { bytes: MAX_RESTORED_BYTES };
  const newestFirst: Turn[] = [];
  for (const turn of turns.toReversed())
    newestFirst.push({ ...turn, items: await itemsWithBlobsWithin(turn.items, readBlob, budget) });
  return newestFirst.reverse();
}

async function itemsWithBlobsWithin(
  items: readonly ThreadItem[],
  readBlob: ReadBlob,
  budget: Budget,
): Promise<ThreadItem[]> {
  if (!items.some(lacksBlobs)) return [...items];
  const newestFirst: ThreadItem[] = [];
  for (const item of items.toReversed())
    newestFirst.push(lacksBlobs(item) ? await itemWithBlobs(item, readBlob, budget) : item);
  return newestFirst.reverse();
}

async function itemWithBlobs(
  item: Extract<ThreadItem, { type: "mcpToolCall" }>,
  readBlob: ReadBlob,
  budget: Budget,
): Promise<ThreadItem> {
  if (item.result === null) return item;
  const content: unknown[] = [];
  for (const block of item.result.content) {
    const name = blobNameIn(block);
    content.push(name === undefined ? block : await blockWithBlob(block as Block, name, readBlob, budget));
  }
  return { ...item, result: { ...item.result, content } };
}

interface Block {
  readonly type: string;
  readonly resource?: Readonly<Record<string, unknown>>;
}

async function blockWithBlob(
  block: Block,
  name: string,
  readBlob: ReadBlob,
  budget: Budget,
): Promise<unknown> {
  // If a blob cannot be read, the rest of the item is still shown.
  const bytes = budget.bytes > 0 ? await readBlob(name).catch(() => undefined) : undefined;
  if (bytes === undefined) return { type: "text", text: `(${placeholderText(block, budget)})` };
  budget.bytes -= bytes.length;
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
  return block.resource === undefined
    ? { ...block, data }
    : { ...block, resource: { ...block.resource, blob: data } };
}

function placeholderText({ type }: Block, { bytes }: Budget): string {
  return bytes > 0
    ? `${type} that was here is not there any more`
    : `${type} left out: there are too many in this reply; read it by itself`;
}

/** The name of the blob that an MCP content block refers to. */
function blobNameIn(block: unknown): string | undefined {
  const { data, resource } = Object(block) as { readonly data?: unknown; readonly resource?: unknown };
  const { blob } = Object(resource) as { readonly blob?: unknown };
  const text = data ?? blob;
  return typeof text === "string" ? blobNameOf(text) : undefined;
}
