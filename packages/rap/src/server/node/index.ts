/** The part of the tool-server SDK that needs Node: storage in a folder. */
export { folderData } from "./folder-data.ts";
