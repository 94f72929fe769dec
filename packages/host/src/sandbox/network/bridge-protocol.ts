/**
 * The frames between the bridge inside a sandbox and the host: a head of nine bytes (kind, number of the connection,
 * length or amount, big endian), followed by the bytes of a `DATA` frame. The bridge opens connections, numbered from
 * 1. Each side sends at most `WINDOW` bytes per connection beyond what the other side has returned with `CREDIT`.
 */
export const FRAME = { OPEN: 0, DATA: 1, END: 2, RESET: 3, CREDIT: 4 } as const;

export const HEAD_BYTES = 9;
/** Flow-control window per connection, in bytes. */
export const WINDOW = 128 * 1024;
/** Limit on the bytes of one `DATA` frame. */
export const MAX_DATA = 32 * 1024;
/** Limit on the concurrent connections of one command. */
export const MAX_CONNECTIONS = 128;
