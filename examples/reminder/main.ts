import { start } from "../start.ts";
import { createReminderServer } from "./server.ts";

await start("reminder", 8791, (surroundings) => createReminderServer(surroundings));
