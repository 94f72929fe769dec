/** Options that decide which host serves a turn. */
export interface HostChoiceOptions {
  readonly config?: readonly string[];
  readonly profile?: string;
  readonly strictConfig?: boolean;
  readonly model?: string;
}

/**
 * The overrides for a host in this process, and whether a running host may be used instead. A running host has its
 * own configuration, so it may not be used if the user gave one.
 */
export function hostChoice({ config = [], profile, strictConfig, model }: HostChoiceOptions): {
  readonly overrides: readonly string[];
  readonly mayRunElsewhere: boolean;
} {
  // Given as an override, because a model may imply its provider, as in config.toml.
  const named = model === undefined ? [] : [`model=${JSON.stringify(model)}`];
  const mayRunElsewhere = config.length === 0 && profile === undefined && strictConfig !== true;
  return { overrides: [...config, ...named], mayRunElsewhere };
}
