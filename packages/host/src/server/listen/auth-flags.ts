import { isAbsolute } from "node:path";
import { ListenError } from "./listener.ts";

/** The `--ws-…` flags as given on the command line. */
export interface AuthFlags {
  readonly wsAuth?: string | undefined;
  readonly wsTokenFile?: string | undefined;
  readonly wsTokenSha256?: string | undefined;
  readonly wsSharedSecretFile?: string | undefined;
  readonly wsIssuer?: string | undefined;
  readonly wsAudience?: string | undefined;
  readonly wsMaxClockSkewSeconds?: string | number | undefined;
}

export type AuthConfig =
  | { readonly kind: "tokenFile"; readonly path: string }
  | { readonly kind: "tokenSha256"; readonly digest: Buffer }
  | {
      readonly kind: "signed";
      readonly path: string;
      readonly issuer?: string;
      readonly audience?: string;
      readonly maxClockSkewSeconds: number;
    };

const FLAGS = {
  wsTokenFile: "--ws-token-file",
  wsTokenSha256: "--ws-token-sha256",
  wsSharedSecretFile: "--ws-shared-secret-file",
  wsIssuer: "--ws-issuer",
  wsAudience: "--ws-audience",
  wsMaxClockSkewSeconds: "--ws-max-clock-skew-seconds",
} as const;
const TOKEN_FLAGS = ["wsTokenFile", "wsTokenSha256"] as const;
const SIGNED_FLAGS = ["wsSharedSecretFile", "wsIssuer", "wsAudience", "wsMaxClockSkewSeconds"] as const;
const DEFAULT_CLOCK_SKEW_SECONDS = 30;

/** Undefined if no authentication was asked for. */
export function parseAuthFlags(flags: AuthFlags): AuthConfig | undefined {
  switch (flags.wsAuth) {
    case undefined:
      reject(flags, [...TOKEN_FLAGS, ...SIGNED_FLAGS], "--ws-auth capability-token or signed-bearer-token");
      return undefined;
    case "capability-token":
      reject(flags, SIGNED_FLAGS, "--ws-auth signed-bearer-token");
      return capabilityToken(flags);
    case "signed-bearer-token":
      reject(flags, TOKEN_FLAGS, "--ws-auth capability-token");
      return signedBearerToken(flags);
    default:
      throw bad(`--ws-auth is "${flags.wsAuth}"; use capability-token or signed-bearer-token`);
  }
}

function capabilityToken({ wsTokenFile, wsTokenSha256 }: AuthFlags): AuthConfig {
  if (wsTokenFile !== undefined && wsTokenSha256 !== undefined) {
    throw bad("--ws-token-file and --ws-token-sha256 name the same thing; give one of them");
  }
  if (wsTokenFile !== undefined) return { kind: "tokenFile", path: absolute("wsTokenFile", wsTokenFile) };
  if (wsTokenSha256 === undefined) {
    throw bad("--ws-auth capability-token needs --ws-token-file or --ws-token-sha256");
  }
  const hex = wsTokenSha256.trim();
  if (!/^[0-9a-f]{64}$/i.test(hex)) {
    throw bad(
      "--ws-token-sha256 must be the 64 hex digits of a SHA-256; make it with: printf %s TOKEN | sha256sum",
    );
  }
  return { kind: "tokenSha256", digest: Buffer.from(hex, "hex") };
}

function signedBearerToken(flags: AuthFlags): AuthConfig {
  if (flags.wsSharedSecretFile === undefined) {
    throw bad("--ws-auth signed-bearer-token needs --ws-shared-secret-file");
  }
  const skew = Number(flags.wsMaxClockSkewSeconds ?? DEFAULT_CLOCK_SKEW_SECONDS);
  if (!Number.isSafeInteger(skew) || skew < 0 || String(flags.wsMaxClockSkewSeconds).trim() === "") {
    throw bad(
      `--ws-max-clock-skew-seconds is "${flags.wsMaxClockSkewSeconds}"; use a whole number of seconds, 0 or more`,
    );
  }
  const issuer = flags.wsIssuer?.trim();
  const audience = flags.wsAudience?.trim();
  return {
    kind: "signed",
    path: absolute("wsSharedSecretFile", flags.wsSharedSecretFile),
    ...(issuer && { issuer }),
    ...(audience && { audience }),
    maxClockSkewSeconds: skew,
  };
}

function reject(flags: AuthFlags, names: readonly (keyof typeof FLAGS)[], needed: string): void {
  const usedFlags = names.filter((name) => flags[name] !== undefined).map((name) => FLAGS[name]);
  if (usedFlags.length > 0)
    throw bad(`${usedFlags.join(", ")} ${usedFlags.length > 1 ? "need" : "needs"} ${needed}`);
}

function absolute(name: keyof typeof FLAGS, path: string): string {
  if (!isAbsolute(path)) throw bad(`${FLAGS[name]} must be an absolute path, not "${path}"`);
  return path;
}

function bad(message: string): ListenError {
  return new ListenError("badAuthFlags", message);
}
