import { isTable, type Table } from "../config/layered-config.ts";

/** Names a skill in `[[skills.config]]`: by the path of its SKILL.md, or by its name. */
export type SkillSelector = { readonly path: string } | { readonly name: string };

/**
 * Returns a function that says whether a skill, given by path and name, is disabled. The last entry that names the
 * skill decides.
 */
export function disabledIn(table: Table): (path: string, name: string) => boolean {
  const list = switchesIn(table);
  return (path, name) =>
    list.findLast((one) => one["path"] === path || one["name"] === name)?.["enabled"] === false;
}

/** Returns `[[skills.config]]` after a skill was enabled or disabled; null if the list becomes empty. */
export function switched(table: Table, selector: SkillSelector, enabled: boolean): readonly Table[] | null {
  const [key, value] = Object.entries(selector)[0]!;
  const others = switchesIn(table).filter((one) => one[key] !== value);
  const list = enabled ? others : [...others, { ...selector, enabled }];
  return list.length === 0 ? null : list;
}

function switchesIn({ skills }: Table): readonly Table[] {
  return isTable(skills) && Array.isArray(skills["config"]) ? skills["config"].filter(isTable) : [];
}
