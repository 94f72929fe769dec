import type { WebSearchAction } from "@bobbin/protocol";
import { expect, it } from "vitest";
import { webSearch } from "./model-items.ts";

it.each<[WebSearchAction, string]>([
  [{ type: "search", query: "q", queries: ["q", "r"] }, "q"],
  [{ type: "search", query: null, queries: ["a"] }, "a"],
  [{ type: "search", query: null, queries: ["a", "b"] }, "a ..."],
  [{ type: "search", query: null, queries: null }, ""],
  [{ type: "openPage", url: "https://x" }, "https://x"],
  [{ type: "openPage", url: null }, ""],
  [{ type: "findInPage", url: "https://x", pattern: "p" }, "'p' in https://x"],
  [{ type: "findInPage", url: null, pattern: "p" }, "'p'"],
  [{ type: "findInPage", url: "https://x", pattern: null }, "https://x"],
  [{ type: "other" }, ""],
])("a search is shown with what it looks for: %j", (action, query) => {
  const times = { startedAtMs: 1, completedAtMs: null };
  const item = { type: "webSearch", id: "w", query, action, results: null, ...times };
  expect(webSearch("w", action, times)).toEqual(item);
});
