/** Reads what the host wrote into the page's `<meta>` elements. */
function meta(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="bobbin-${name}"]`)?.content ?? "";
}

export const pageMetadata = {
  /** The URL at which programs connect to the host. */
  address: meta("address"),
  needsToken: meta("auth") === "token",
  version: meta("version"),
};
