/**
 * Version of the schema, and of the data in it. Each version has its own file, so that hosts of two versions can run
 * on one home.
 */
export const SCHEMA_VERSION = 5;

/**
 * Number of low bits in a text's key that number the texts of one thread. The other bits are the thread's key, so that
 * a text's key identifies the thread of a search hit.
 */
export const TEXT_BITS = 21;

/** Owner of threads that were started without a subject: all threads, if the host has a single user. */
const LOCAL = "local";

export const SORT_COLUMNS = {
  created_at: "created",
  updated_at: "updated",
  recency_at: "recency",
  section_position: "position",
} as const;

const TIMES = ["created", "updated", "recency"] as const;

/**
 * `threads` has the columns for filters and sorting, `bodies` the data to show, so that filtering many rows reads few
 * bytes. Each usual list has an index that ends with its sort column and the ID: the cost of a page does not depend
 * on the number of threads.
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
  key INTEGER PRIMARY KEY, item TEXT NOT NULL, turn TEXT NOT NULL, kind TEXT NOT NULL, place INTEGER NOT NULL,
  text TEXT NOT NULL, folded TEXT, said TEXT);
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

/** Whether an owner is covered by the partial indexes above. */
export function hasOwnerIndex(owner: string): boolean {
  return owner !== LOCAL;
}
export const OWNER_INDEXED = `owner <> '${LOCAL}'`;
