let given = 0;

/**
 * A loopback address that no other server of the tests uses. A port alone is not enough: the port of a closed server
 * is soon given to another test's server, which would answer where a test expects no answer.
 */
export function ownAddress(): string {
  // Other systems have no loopback address besides 127.0.0.1.
  if (process.platform !== "linux") return "127.0.0.1";
  given += 1;
  return `127.${1 + ((process.pid >> 8) % 255)}.${process.pid & 255}.${1 + (given % 254)}`;
}
