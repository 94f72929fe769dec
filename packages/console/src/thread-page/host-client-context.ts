import type { Bobbin } from "@bobbin/client";
import { createContext } from "preact";

/** The client of the host that serves the page. Items read files of the host's machine with it. */
export const HostClient = createContext<Bobbin | undefined>(undefined);
