import { fault } from "../../errors.ts";
import { imagesOf, responseItemProblem } from "../../model/response-item-validation.ts";
import { isRemote } from "../../tool/media.ts";

/**
 * Throws if an item that a client adds to the history is not valid for models. An invalid item would make every later
 * turn fail.
 */
export function checkHistoryItems(items: readonly unknown[]): void {
  for (const [at, item] of items.entries()) {
    const problem = responseItemProblem(item);
    if (problem !== undefined) throw fault("invalidResponseItem", at, problem);
  }
  if (items.some((item) => imagesOf(item).some(isRemote))) throw fault("remoteImage");
}
