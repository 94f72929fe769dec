import type { Config } from "../../config/config.ts";
import type { ModelProviders } from "../../model/providers.ts";
import type { Platform } from "../../platform/platform.ts";
import type { Registry } from "../../thread/registry.ts";

/** What handlers work with. */
export interface HandlerContext {
  readonly home: string;
  readonly cwd: string;
  readonly config: Config;
  readonly platform: Platform;
  readonly registry: Registry;
  readonly providers: ModelProviders;
}
