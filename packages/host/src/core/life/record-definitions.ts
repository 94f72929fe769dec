import {
  array,
  enumeration,
  integer,
  nullable,
  number,
  omittable,
  string,
  unknown,
} from "@bobbin/protocol/schema";
import { GitInfo, LoadSettings, ThreadStatus } from "@bobbin/protocol/types";
import { type Notification, silent, toEveryone, toSubscribers } from "../notification.ts";
import { time } from "../number-schemas.ts";
import { fields } from "../record-check.ts";
import type { RecordTable } from "../record-table.ts";
import { withoutGrant } from "../requests/grants.ts";
import { THREAD_STATE } from "../state-schema.ts";
import { withContextTokens, withMoreContext } from "../turn/context-size.ts";
import {
  foldAdopted,
  foldCheckpoint,
  foldClosed,
  foldCreated,
  foldItemsInjected,
  foldOpened,
  foldTurnsDropped,
} from "./fold.ts";
import { PROJECT_DOC, THREAD_FACTS, THREAD_SETTINGS, UNLOAD_REASON } from "./record-field-schemas.ts";
import type { LifeRecord } from "./records.ts";
import { settingsView } from "./thread-view.ts";

const EPOCH = integer("uint32", { minimum: 1 });

export const LIFE_RECORDS: RecordTable<LifeRecord> = {
  created: {
    version: 1,
    check: fields(() => ({
      at: time(),
      facts: THREAD_FACTS,
      settings: THREAD_SETTINGS,
      load: LoadSettings,
      docs: array(PROJECT_DOC),
    })),
    fold: (_, record) => foldCreated(record),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  opened: {
    version: 1,
    check: fields(() => ({
      at: time(),
      epoch: EPOCH,
      load: LoadSettings,
      docs: nullable(array(PROJECT_DOC)),
    })),
    fold: foldOpened,
    notify: (threadId) => [statusChanged(threadId, { type: "idle" })],
    durability: "written",
    inFork: "never",
  },
  adopted: {
    version: 1,
    check: fields(() => ({ at: time(), epoch: EPOCH, status: ThreadStatus })),
    fold: foldAdopted,
    notify: (threadId, { status }) => [statusChanged(threadId, status)],
    durability: "written",
    inFork: "never",
  },
  closed: {
    version: 1,
    check: fields(() => ({ at: time(), reason: UNLOAD_REASON })),
    fold: foldClosed,
    notify: (threadId, { reason }) => {
      const status = statusChanged(threadId, { type: "notLoaded" });
      // Clients get `thread/archived` or `thread/deleted` instead of `thread/closed`.
      if (reason === "archived" || reason === "deleted") return [status];
      return [status, toEveryone("thread/closed", { threadId })];
    },
    durability: "synced",
    inFork: "never",
  },
  notified: {
    version: 1,
    check: fields(() => ({ at: time() })),
    fold: (state, { at }) => ({ ...state, untold: false, toldAt: at }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  statusChanged: {
    version: 1,
    check: fields(() => ({ status: ThreadStatus })),
    fold: (state, { status }) => ({ ...state, status }),
    notify: (threadId, { status }) => [statusChanged(threadId, status)],
    durability: "written",
    inFork: "never",
  },
  settingsChanged: {
    version: 1,
    check: fields(() => ({ at: time(), settings: THREAD_SETTINGS })),
    fold: (state, { settings }) => ({ ...state, settings }),
    notify: (threadId, { settings }) => [
      toSubscribers("thread/settings/updated", { threadId, threadSettings: settingsView(settings) }),
    ],
    durability: "written",
    inFork: "never",
  },
  loadSettingsChanged: {
    version: 1,
    check: fields(() => ({ at: time(), changes: LoadSettings })),
    fold: (state, { changes }) => ({ ...state, pendingLoad: { ...state.pendingLoad, ...changes } }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  grantRevoked: {
    version: 1,
    check: fields(() => ({ at: time(), grantId: string(), key: string() })),
    fold: (state, { key }) => withoutGrant(state, key),
    notify: (threadId, { grantId }) => [toSubscribers("thread/grants/revoked", { threadId, grantId })],
    // Synced: a power cut must not restore a revoked grant.
    durability: "synced",
    inFork: "never",
  },
  renamed: {
    version: 1,
    check: fields(() => ({ at: time(), name: nullable(string()) })),
    fold: (state, { name }) => ({ ...state, name }),
    notify: (threadId, { name }) => [toEveryone("thread/name/updated", { threadId, threadName: name })],
    durability: "written",
    inFork: "never",
  },
  gitInfoChanged: {
    version: 1,
    check: fields(() => ({ at: time(), gitInfo: nullable(GitInfo) })),
    fold: (state, { gitInfo }) => ({ ...state, gitInfo }),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
  sectionChanged: {
    version: 1,
    check: fields(() => ({ at: time(), sectionId: nullable(string()), position: nullable(number()) })),
    fold: (state, { sectionId: id, position, at }) => ({
      ...state,
      section: id === null ? null : { id, position, since: at },
    }),
    notify: (threadId, { sectionId }) => [toEveryone("thread/section/changed", { threadId, sectionId })],
    durability: "written",
    inFork: "never",
  },
  turnsDropped: {
    version: 1,
    check: fields(() => ({
      at: time(),
      keepThrough: nullable(string()),
      dropped: array(string()),
      by: enumeration("", ["rollback", "revert"]),
    })),
    // The size of the shortened conversation is unknown until the next model answer reports it.
    fold: (state, record) => withContextTokens(foldTurnsDropped(state, record), 0),
    // Older clients, which use rollback, need no notification: the reply is enough.
    notify: (threadId, { by }) => (by === "rollback" ? [] : [toEveryone("thread/reverted", { threadId })]),
    durability: "written",
    // A fork copies the dropped turns and this record, because it reads the journal only once, oldest first.
    inFork: "alone",
  },
  itemsInjected: {
    version: 1,
    check: fields(() => ({ at: time(), items: array(unknown()), after: omittable(string()) })),
    fold: (state, { items }) => withMoreContext(foldItemsInjected(state), JSON.stringify(items)),
    notify: silent,
    durability: "written",
    inFork: "alone",
  },
  checkpoint: {
    version: 1,
    check: fields(() => ({ state: THREAD_STATE })),
    fold: (_, record) => foldCheckpoint(record),
    notify: silent,
    durability: "written",
    inFork: "never",
  },
};

function statusChanged(threadId: string, status: ThreadStatus): Notification {
  return toEveryone("thread/status/changed", { threadId, status });
}
