/** The environment variable that carries the mark of every process that a host starts; descendants inherit it. */
export const MARK_VARIABLE = "BOBBIN_PROCESS";
