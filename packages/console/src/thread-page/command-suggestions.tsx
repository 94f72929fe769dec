import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { SuggestionsProps } from "./composer.tsx";
import {
  mcpPrompts,
  offeredCommands,
  type PromptCommand,
  type SkillCommand,
  savedPrompts,
  skillCommands,
} from "./slash-commands.ts";
import { type Suggestion, SuggestionList } from "./suggestion-list.tsx";

/** Commands, skills and saved prompts whose names begin with the word after `/`, or contain it. */
export function CommandSuggestions(list: SuggestionsProps) {
  const { onChoose, trigger, assist } = list;
  const { client, folder, page } = assist;
  const skills = useSignal<readonly SkillCommand[] | undefined>(undefined);
  const prompts = useSignal<readonly PromptCommand[]>([]);
  const ofServers = useSignal<readonly PromptCommand[]>([]);
  useEffect(() => {
    let isLate = false;
    skills.value = undefined;
    prompts.value = [];
    skillCommands({ client, folder }).then(
      (found) => {
        if (!isLate) skills.value = found;
      },
      // Without the skills and prompts, the commands are still shown.
      () => {
        if (!isLate) skills.value = [];
      },
    );
    savedPrompts({ client, folder }).then(
      (found) => {
        if (!isLate) prompts.value = found;
      },
      () => {},
    );
    return () => {
      isLate = true;
    };
  }, [client, folder, skills, prompts]);
  useEffect(() => {
    let isLate = false;
    mcpPrompts(page).then(
      (found) => {
        if (!isLate) ofServers.value = found;
      },
      () => {},
    );
    return () => {
      isLate = true;
    };
  }, [page, ofServers]);
  const state = page?.session.state.value;
  const found = skills.value;
  const saved = prompts.value;
  const served = ofServers.value;
  const { query } = trigger;
  const suggestions = useMemo(() => {
    const all = [
      ...offeredCommands(state).map(
        ({ name, args, description }): Suggestion => ({
          key: name,
          label: `/${name}${args === undefined ? "" : ` ${args}`}`,
          description,
          choose: (isFinal) => onChoose(`/${name}`, { submit: isFinal && args === undefined }),
        }),
      ),
      ...(found ?? []).map(
        ({ name, skill }): Suggestion => ({
          key: `skill ${name}`,
          label: `/${name}`,
          description: skill.interface?.shortDescription ?? skill.shortDescription ?? skill.description,
          choose: () => onChoose(`/${name}`),
        }),
      ),
      ...[...saved, ...served].map(
        ({ command, hint, description }): Suggestion => ({
          key: command.slice(1),
          label: hint === null ? command : `${command} ${hint}`,
          description,
          choose: () => onChoose(command),
        }),
      ),
    ];
    const typed = query.toLowerCase();
    const nameOf = ({ key }: Suggestion) => key.replace(/^skill /, "").toLowerCase();
    const isLater = (each: Suggestion) =>
      !nameOf(each).startsWith(typed) && !nameOf(each).startsWith(`prompts:${typed}`);
    return all
      .filter((each) => nameOf(each).includes(typed))
      .toSorted((one, other) => Number(isLater(one)) - Number(isLater(other)));
  }, [state, found, saved, served, query, onChoose]);
  const none = query === "" ? "There are no skills in this folder." : `There is no command /${query}.`;
  const empty = found === undefined ? "Searching …" : none;
  return (
    <SuggestionList
      {...list}
      id="command-suggestions"
      name="Commands"
      suggestions={suggestions}
      empty={empty}
    />
  );
}
