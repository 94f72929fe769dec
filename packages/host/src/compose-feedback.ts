import type { Accounts } from "./account/current-account.ts";
import type { Config } from "./config/config.ts";
import { hostSecretNames } from "./config/host-secret-names.ts";
import type { LayeredConfig } from "./config/layered-config.ts";
import type { FeedbackReports } from "./feedback/feedback-reports.ts";
import { RedactedLogReader } from "./feedback/redacted-log-reader.ts";
import type { Metrics } from "./observe/metrics.ts";
import type { RecentLog } from "./observe/recent-log.ts";
import type { Platform } from "./platform/platform.ts";
import type { LazyOAuth } from "./tool/mcp/oauth/lazy-oauth.ts";
import { BOBBIN_VERSION } from "./version.ts";

export interface FeedbackParts {
  readonly home: string;
  readonly platform: Platform;
  readonly log: RecentLog;
  readonly metrics: Metrics;
  readonly layers: LayeredConfig;
  readonly accounts: Accounts;
  readonly mcpOAuth: LazyOAuth;
  hostId(): string;
  config(): Config;
}

/** Creates the problem reports and the readable log. Their code is loaded when it is first used. */
export function composeFeedback(parts: FeedbackParts): {
  feedback(): Promise<FeedbackReports>;
  readonly logs: RedactedLogReader;
} {
  const { home, platform, log, metrics, layers, accounts, mcpOAuth } = parts;
  const createRedactor = async (): Promise<(text: string) => string> => {
    const { redactor, secretsIn, secretVariables } = await import("./feedback/redact-secrets.ts");
    // A configuration that cannot be read contributes no secrets.
    const table = await layers.merged().catch(() => ({}));
    return redactor([
      ...secretsIn(table),
      ...secretVariables(platform.env, hostSecretNames(parts.config())),
      ...(await accounts.secretValues(parts.config().modelProviders)),
      ...(await mcpOAuth.secretValues(parts.config().mcp.servers, "local")),
    ]);
  };
  const load = async (): Promise<FeedbackReports> => {
    const { FeedbackReports } = await import("./feedback/feedback-reports.ts");
    return new FeedbackReports({
      home,
      platform,
      settings: () => parts.config().feedback,
      redactor: createRedactor,
      recentLog: () => log.text(),
      facts: () => ({
        version: BOBBIN_VERSION,
        node: process.version,
        platform: `${process.platform} ${process.arch}`,
        process: platform.process(),
        gauges: metrics.gaugeValues(),
      }),
    });
  };
  let loading: Promise<FeedbackReports> | undefined;
  return {
    feedback: () => {
      loading ??= load();
      return loading;
    },
    logs: new RedactedLogReader({ log, hostId: parts.hostId, redactor: createRedactor }),
  };
}
