/** Errors of thread sections. */
export const SECTION_ERRORS = {
  sortNeedsSection: {
    wire: -32600,
    retryable: false,
    text: () => "section-position sorting requires a section filter",
  },
  ephemeralSection: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `ephemeral thread does not support section moves: ${id}`,
  },
  sectionNotFound: {
    wire: -32602,
    retryable: false,
    text: (id: string) => `thread section not found: ${id}`,
  },
  sectionMissing: { wire: -32600, retryable: false, text: (id: string) => `section ${id} does not exist` },
  sectionNameEmpty: { wire: -32602, retryable: false, text: () => "section name must not be empty" },
  notInSection: {
    wire: -32600,
    retryable: false,
    text: (id: string, sectionId: string) => `before thread ${id} is not in section ${sectionId}`,
  },
  beforeNothing: {
    wire: -32600,
    retryable: false,
    text: () => "beforeThreadId requires a non-null sectionId",
  },
  beforeItself: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `thread ${id} cannot be moved before itself`,
  },
  sectionFull: {
    wire: -32600,
    retryable: false,
    text: () => "There is no room between these two threads; move one of them first",
  },
  sectionBuiltIn: {
    wire: -32602,
    retryable: false,
    text: (id: string) => `thread section ${id} is built in: it cannot be changed or deleted`,
  },
  tooManySections: {
    wire: -32600,
    retryable: false,
    text: (limit: number) => `There are ${limit} thread sections already; delete one first`,
  },
} as const;
