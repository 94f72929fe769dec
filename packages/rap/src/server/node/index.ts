/** What a tool server needs of Node. */
export { folderData } from "./data.ts";
