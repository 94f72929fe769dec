export type StatusRow = readonly [label: string, value: string];
export const PAGE_HEADERS: Readonly<Record<string, string>> = {};
export function renderPage(_: {
  url: string;
  needsToken: boolean;
  hasStatus: boolean;
  version?: string;
}): string {
  return "";
}
export function renderStatus(_rows: readonly StatusRow[]): string {
  return "";
}
