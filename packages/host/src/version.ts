/** The version of the Codex CLI whose protocol Bobbin serves. Clients compare it with the minimum that they require. */
export const PEER_VERSION = "0.169.0";
export const BOBBIN_VERSION = "0.1.0";
