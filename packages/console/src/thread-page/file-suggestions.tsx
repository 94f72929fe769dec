import type { FuzzyFileSearchResult } from "@bobbin/protocol";
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { SuggestionsProps } from "./composer.tsx";
import { FileSearch } from "./file-search.ts";
import { mentionOf } from "./message-input.ts";
import { type Suggestion, SuggestionList } from "./suggestion-list.tsx";

const MAX_SHOWN = 20;

/** Files of the folder that match the word after `@`. */
export function FileSuggestions({ onChoose, ...list }: SuggestionsProps) {
  const { client, folder } = list.assist;
  const { query } = list.trigger;
  const files = useSignal<readonly FuzzyFileSearchResult[] | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const search = useMemo(
    () =>
      new FileSearch(client, folder, (found) => {
        files.value = found;
      }),
    [client, folder, files],
  );
  useEffect(() => () => search.close(), [search]);
  useEffect(() => {
    problem.value = undefined;
    search.ask(query).catch((cause: unknown) => {
      problem.value = `Files cannot be searched: ${cause instanceof Error ? cause.message : cause}`;
    });
  }, [search, query, problem]);
  const found = query === "" ? undefined : files.value;
  const suggestions = useMemo(
    () =>
      (found ?? []).slice(0, MAX_SHOWN).map((file): Suggestion => {
        const mention = mentionOf(file.path);
        return {
          key: `${file.root}/${file.path}`,
          label: <MatchedPath file={file} />,
          choose: () => onChoose(mention, { path: `${file.root.replace(/\/$/, "")}/${file.path}` }),
        };
      }),
    [found, onChoose],
  );
  const empty =
    problem.value ??
    (query === ""
      ? "Type a part of a file’s name."
      : found === undefined
        ? "Searching …"
        : "No file matches.");
  return (
    <SuggestionList {...list} id="file-suggestions" name="Files" suggestions={suggestions} empty={empty} />
  );
}

/** A path in which the matching letters are marked. */
function MatchedPath({ file: { path, indices, match_type } }: { file: FuzzyFileSearchResult }) {
  const matched = new Set(indices ?? []);
  return (
    <>
      {Array.from(path, (letter, at) => (matched.has(at) ? <b key={at}>{letter}</b> : letter))}
      {match_type === "directory" ? "/" : ""}
    </>
  );
}
