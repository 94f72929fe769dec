/**
 * Another number makes another file: hosts of two versions can then run on one home. It changes with what rows and
 * texts are made of, too.
 */
export const SCHEMA_VERSION = 3;

/** Texts of a thread have keys in a range of their own: the thread of a hit is known without a look-up. */
export const TEXT_BITS = 21;

/** Whoever came without a name; on a machine of one person that is every thread. */
const LOCAL = "local";

export const SORT_COLUMNS = {
  created_at: "created",
  updated_at: "updated",
  recency_at: "recency",
  section_position: "position",
} as const;

const TIMES = ["created", "updated", "recency"] as const;

/**
 * `threads` holds what is filtered and sorted by, `bodies` what is shown: a filter that has to look at many
 * rows reads few bytes. Each usual list has an index that ends with its sort column and the id, so that a page
 * costs its length, whatever the number of threads.
 */
export const SCHEMA = `
CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE threads(
  key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, seq INTEGER NOT NULL, owner TEXT NOT NULL,
  archived INTEGER NOT NULL, shown INTEGER NOT NULL, interactive INTEGER NOT NULL, kind TEXT NOT NULL,
  created NUMERIC NOT NULL, updated NUMERIC NOT NULL, recency NUMERIC NOT NULL, position NUMERIC NOT NULL,
  section TEXT, parent TEXT, provider TEXT NOT NULL, originator TEXT, cwd TEXT NOT NULL, name TEXT, preview TEXT);
CREATE TABLE bodies(key INTEGER PRIMARY KEY, row TEXT NOT NULL);
CREATE TABLE texts(
  key INTEGER PRIMARY KEY, item TEXT NOT NULL, turn TEXT NOT NULL, text TEXT NOT NULL, folded TEXT);
CREATE TABLE forgotten(id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE INDEX texts_item ON texts(item);
CREATE INDEX threads_parent ON threads(parent) WHERE parent IS NOT NULL;
CREATE INDEX threads_section ON threads(section, archived, position, id) WHERE section IS NOT NULL;
${TIMES.map(
  (time) => `
CREATE INDEX threads_${time} ON threads(archived, shown, interactive, ${time}, id);
CREATE INDEX threads_cwd_${time} ON threads(cwd, archived, shown, interactive, ${time}, id);
CREATE INDEX threads_owner_${time} ON threads(owner, archived, shown, interactive, ${time}, id) WHERE owner <> '${LOCAL}';`,
).join("")}
INSERT INTO meta VALUES('complete', 0);
PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** Owners with an index of their own; see the partial indexes above. */
export function hasOwnerIndex(owner: string): boolean {
  return owner !== LOCAL;
}
export const OWNER_INDEXED = `owner <> '${LOCAL}'`;
