import { start } from "../start-example.ts";
import { createApprovalServer } from "./server.ts";

await start("approval", 8792, (environment) => createApprovalServer(environment));
