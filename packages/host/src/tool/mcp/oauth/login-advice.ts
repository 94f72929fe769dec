/** Tells the user how to log in to a server. */
export function loginAdvice(name: string): string {
  return `Log in with: bobbin mcp login ${/^[\w.-]+$/.test(name) ? name : JSON.stringify(name)}`;
}
