import type { Ids } from "../../platform/platform.ts";

/** Default names of helpers, by which users tell them apart. */
const NICKNAMES = [
  ...["Batik", "Calico", "Cambric", "Canvas", "Chenille", "Chintz", "Corduroy", "Damask", "Denim", "Distaff"],
  ...["Felt", "Flannel", "Gauze", "Gingham", "Hank", "Heddle", "Hemp", "Ikat", "Jacquard", "Jersey"],
  ...["Lace", "Linen", "Loom", "Muslin", "Needle", "Organza", "Oxford", "Percale", "Poplin", "Purl"],
  ...["Ramie", "Reed", "Sateen", "Selvage", "Serge", "Shuttle", "Sisal", "Skein", "Spindle", "Taffeta"],
  ...["Tartan", "Thimble", "Treadle", "Tulle", "Tweed", "Twill", "Velvet", "Voile", "Warp", "Weft", "Whorl"],
];

/** Picks a random name that is not in `taken`. If all names are taken, adds a number. */
export function nicknameFor(
  taken: readonly string[],
  ids: Pick<Ids, "integer">,
  candidates: readonly string[] | null,
): string {
  const names = candidates ?? NICKNAMES;
  for (let round = 1; ; round++) {
    const free = names
      .map((name) => (round === 1 ? name : `${name} ${round}`))
      .filter((name) => !taken.includes(name));
    const chosen = free[ids.integer() % free.length];
    if (chosen !== undefined) return chosen;
  }
}
