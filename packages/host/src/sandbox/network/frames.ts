/**
 * The frames between the bridge inside of a sandbox and the host: nine bytes of head (kind, number of the connection,
 * length or amount, big endian), and the bytes of a `DATA` frame behind it. The bridge opens connections, numbered from 1.
 * Each side sends at most `WINDOW` bytes of a connection beyond what the other side has given back with `CREDIT`.
 */
export const FRAME = { OPEN: 0, DATA: 1, END: 2, RESET: 3, CREDIT: 4 } as const;

export const HEAD_BYTES = 9;
export const WINDOW = 128 * 1024;
/** The most bytes of one `DATA` frame. */
export const MAX_DATA = 32 * 1024;
/** Connections that one command has at once. */
export const MAX_CONNECTIONS = 128;
