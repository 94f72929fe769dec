import { homedir, userInfo } from "node:os";
import { isAbsolute } from "node:path";

/**
 * The user's home folder: `$HOME`, else that of the password database. An empty or relative `HOME` is ignored, because
 * it would lead to the working folder. Throws if there is no other.
 */
export function userHomeFolder(): string {
  const home = homedir();
  if (isAbsolute(home)) return home;
  try {
    const { homedir: registered } = userInfo();
    if (isAbsolute(registered)) return registered;
  } catch {
    // In a container the user may have no entry in the password database.
  }
  throw new Error(`HOME is ${JSON.stringify(home)}, which is not an absolute path; set HOME or BOBBIN_HOME`);
}
