import { fault } from "../../errors.ts";
import { imagesOf, responseItemProblem } from "../../model/response-items.ts";
import { isRemote } from "../../tool/media.ts";

/** What clients put into a history has to be what models take: it is sent with every later turn. */
export function checkHistoryItems(items: readonly unknown[]): void {
  for (const [at, item] of items.entries()) {
    const problem = responseItemProblem(item);
    if (problem !== undefined) throw fault("invalidResponseItem", at, problem);
  }
  if (items.some((item) => imagesOf(item).some(isRemote))) throw fault("remoteImage");
}
