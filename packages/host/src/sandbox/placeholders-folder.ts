/** Folder in the host's home that records which placeholder files are in users' repositories for running commands. */
export const PLACEHOLDERS_FOLDER = "sandbox-masks";
