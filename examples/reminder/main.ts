import { start } from "../start-example.ts";
import { createReminderServer } from "./server.ts";

await start("reminder", 8791, (environment) => createReminderServer(environment));
