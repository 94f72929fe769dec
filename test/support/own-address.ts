let given = 0;

/**
 * A loopback address that no other server of these tests has. Ports alone are not enough: the port of a server that was
 * closed is soon given to another test's server, which then answers where a test expects that nobody does.
 */
export function ownAddress(): string {
  // Elsewhere only 127.0.0.1 itself is there.
  if (process.platform !== "linux") return "127.0.0.1";
  given += 1;
  return `127.${1 + ((process.pid >> 8) % 255)}.${process.pid & 255}.${1 + (given % 254)}`;
}
