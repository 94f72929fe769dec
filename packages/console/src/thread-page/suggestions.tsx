import { CommandSuggestions } from "./command-suggestions.tsx";
import type { SuggestionsProps } from "./composer.tsx";
import { FileSuggestions } from "./file-suggestions.tsx";

/** The suggestions that can replace the word before the caret. */
export function Suggestions(props: SuggestionsProps) {
  return props.trigger.kind === "command" ? (
    <CommandSuggestions {...props} />
  ) : (
    <FileSuggestions {...props} />
  );
}
