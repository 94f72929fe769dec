export { compose, type HostOptions } from "./compose.ts";
export { type Config, readConfig } from "./config/config.ts";
export { Host } from "./host.ts";
