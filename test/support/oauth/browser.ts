/** Opens a URL as a browser does, and follows redirects to the last page. Returns the page's status, text and URL. */
export async function browse(
  address: string,
): Promise<{ readonly status: number; readonly text: string; readonly url: string }> {
  const { status, text, url } = await follow(address, () => false);
  return { status, text, url };
}

/** Follows redirects until `isEnd` accepts the next URL, which is not opened. */
export async function browseUntil(address: string, isEnd: (url: URL) => boolean): Promise<string> {
  return (await follow(address, isEnd)).url;
}

async function follow(
  address: string,
  isEnd: (url: URL) => boolean,
): Promise<{ status: number; text: string; url: string }> {
  const cookies = new Map<string, string>();
  let url = new URL(address);
  for (let hops = 0; hops < 20; hops++) {
    if (isEnd(url)) return { status: 0, text: "", url: url.href };
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { redirect: "manual", headers: cookie === "" ? {} : { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (value === "") cookies.delete(name!);
      else cookies.set(name!, value!);
    }
    const text = await response.text();
    const location = response.headers.get("location");
    if (location === null) return { status: response.status, text, url: url.href };
    url = new URL(location, url);
  }
  throw new Error(`it leads nowhere: ${address}`);
}
