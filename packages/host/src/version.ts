/** What clients check for a minimum: the version of the protocol's reference program that we serve like. */
export const PEER_VERSION = "0.166.0";
export const BOBBIN_VERSION = "0.1.0";
