import { start } from "../start-example.ts";
import { createWorkspaceServer } from "./server.ts";

const repository = process.env["REPOSITORY"] ?? process.cwd();

await start("workspace", 8790, (environment) => createWorkspaceServer({ ...environment, repository }));
