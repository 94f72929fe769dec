import { choice, flag, type KeyTable, table, text, whole } from "./key.ts";

/** Keys of the host itself. */
export const HOST_KEYS: KeyTable = {
  thread_unload_delay_secs: {
    type: whole(0),
    about: "Seconds until a thread without subscribers is unloaded.",
    default: "0 on stdio, 1800 on sockets",
    atStart: true,
  },
  server_request_deadline_secs: {
    type: whole(0),
    about: "Seconds that a question waits while no client is connected that could answer it.",
    default: "1800",
    atStart: true,
  },
  max_resident_threads: {
    type: whole(1),
    about: "Limit on idle threads in memory; further ones are loaded again when they are used.",
    default: "256",
    atStart: true,
  },
  max_connections: {
    type: whole(1),
    about: "Limit on the clients of one socket listener; further ones get HTTP status 503.",
    default: "10000",
    atStart: true,
  },
  journal_sync: {
    type: choice("turns", "always", "never"),
    about: "When a thread's journal is synced to the disk.",
    default: "turns",
    atStart: true,
  },
  feedback: {
    type: table({
      enabled: { type: flag, about: "Whether problem reports are accepted.", default: "true" },
      endpoint: {
        type: text,
        about: "URL to which reports are sent by POST.",
        default: "none: they stay in the home",
      },
    }),
    about: "Problem reports.",
  },
};
