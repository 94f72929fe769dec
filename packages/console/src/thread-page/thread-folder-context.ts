import { createContext } from "preact";

/** The folder of the thread that is shown; empty while it is unknown. */
export const ThreadFolder = createContext("");
