import { start } from "../start.ts";
import { createWorkspaceServer } from "./server.ts";

const repository = process.env["REPOSITORY"] ?? process.cwd();

await start("workspace", 8790, (surroundings) => createWorkspaceServer({ ...surroundings, repository }));
