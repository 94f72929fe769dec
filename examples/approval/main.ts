import { start } from "../start.ts";
import { createApprovalServer } from "./server.ts";

await start("approval", 8792, (surroundings) => createApprovalServer(surroundings));
