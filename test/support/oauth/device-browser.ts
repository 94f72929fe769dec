/** Confirms a device code on the pages of the authorization server, as a user does on another device. */
export async function confirmDevice(verificationUrl: string, userCode: string): Promise<string> {
  const cookies = new Map<string, string>();
  const visit = async (address: string, fields?: Record<string, string>): Promise<string> => {
    let url = new URL(address);
    let form = fields;
    for (let hops = 0; hops < 20; hops++) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const response = await fetch(url, {
        redirect: "manual",
        headers: cookie === "" ? {} : { cookie },
        ...(form !== undefined && { method: "POST", body: new URLSearchParams(form) }),
      });
      for (const line of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
        if (value === "") cookies.delete(name!);
        else cookies.set(name!, value!);
      }
      const text = await response.text();
      const location = response.headers.get("location");
      if (location === null) return text;
      url = new URL(location, url);
      form = undefined;
    }
    throw new Error(`it leads nowhere: ${address}`);
  };
  const secret = (page: string): string => /name="xsrf" value="([^"]+)"/.exec(page)![1]!;
  const asked = await visit(verificationUrl);
  const shown = await visit(verificationUrl, { xsrf: secret(asked), user_code: userCode });
  return visit(verificationUrl, { xsrf: secret(shown), user_code: userCode, confirm: "yes" });
}
