import type { Thread } from "@bobbin/protocol";
import type {
  IndexedText,
  SearchQuery,
  ThreadQuery,
  ThreadRow,
} from "../../packages/host/src/store/thread-index.ts";

/** Builds rows, texts and queries for tests. Fields that are not given have default values. */
export function sampleRow(
  id: string,
  fields: Partial<Omit<ThreadRow, "id" | "thread">> & { readonly thread?: Partial<Thread> } = {},
): ThreadRow {
  const { thread, ...own } = fields;
  const createdAt = own.createdAt ?? 1_000_000;
  const row = {
    id,
    owner: "local",
    seq: 1,
    archived: false,
    listed: true,
    createdAt,
    updatedAt: createdAt,
    recencyAt: createdAt,
    parentThreadId: null,
    sectionId: null,
    sectionPosition: null,
    readState: null,
    ...own,
  };
  return { ...row, thread: { ...sampleThread(id), createdAt: Math.floor(createdAt / 1000), ...thread } };
}

function sampleThread(id: string): Thread {
  return {
    id,
    agentNickname: null,
    agentRole: null,
    cliVersion: "0.1.0",
    createdAt: 0,
    cwd: "/work",
    ephemeral: false,
    forkedFromId: null,
    gitInfo: null,
    historyMode: "paginated",
    model: null,
    modelProvider: "mock",
    name: null,
    originator: null,
    parentThreadId: null,
    path: null,
    preview: `preview of ${id}`,
    projectId: null,
    reasoningEffort: null,
    recencyAt: null,
    section: null,
    sectionEnteredAt: null,
    sessionId: id,
    source: "vscode",
    status: { type: "notLoaded" },
    threadSource: null,
    turns: [],
    updatedAt: 0,
  };
}

export function sampleText(itemId: string, text: string, turnId = "turn"): IndexedText {
  return { turnId, itemId, role: "user", at: 0, text, kind: "user", place: 0 };
}

export function sampleQuery(fields: Partial<ThreadQuery> = {}): ThreadQuery {
  return {
    owner: undefined,
    archived: false,
    modelProviders: undefined,
    sourceKinds: undefined,
    cwds: undefined,
    searchTerm: undefined,
    sectionId: undefined,
    parentThreadId: undefined,
    ancestorThreadId: undefined,
    sortKey: "created_at",
    sortDirection: "desc",
    cursor: undefined,
    limit: 50,
    ...fields,
  };
}

export function sampleSearch(searchTerm: string, fields: Partial<ThreadQuery> = {}): SearchQuery {
  return { ...sampleQuery(fields), searchTerm };
}
