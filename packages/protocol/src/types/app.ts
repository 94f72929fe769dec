import {
  array,
  boolean,
  integer,
  nullable,
  object,
  omittable,
  optional,
  record,
  type Static,
  string,
} from "../schema-language.ts";

export const AppBranding = object("AppBranding", () => ({
  category: nullable(string()),
  developer: nullable(string()),
  isDiscoverableApp: boolean(),
  privacyPolicy: nullable(string()),
  termsOfService: nullable(string()),
  website: nullable(string()),
}));
export type AppBranding = Static<typeof AppBranding>;

export const AppReview = object("AppReview", () => ({ status: string() }));
export type AppReview = Static<typeof AppReview>;

export const AppScreenshot = object("AppScreenshot", () => ({
  fileId: nullable(string()),
  url: nullable(string()),
  userPrompt: string(),
}));
export type AppScreenshot = Static<typeof AppScreenshot>;

export const AppMetadata = object("AppMetadata", () => ({
  categories: nullable(array(string())),
  developer: nullable(string()),
  firstPartyRequiresInstall: nullable(boolean()),
  review: nullable(AppReview),
  screenshots: nullable(array(AppScreenshot)),
  seoDescription: nullable(string()),
  showInComposerWhenUnlinked: nullable(boolean()),
  subCategories: nullable(array(string())),
  version: nullable(string()),
  versionId: nullable(string()),
  versionNotes: nullable(string()),
}));
export type AppMetadata = Static<typeof AppMetadata>;

export const AppInfo = object("AppInfo", () => ({
  appMetadata: nullable(AppMetadata),
  branding: nullable(AppBranding),
  description: nullable(string()),
  distributionChannel: nullable(string()),
  iconAssets: nullable(record(string())),
  iconDarkAssets: nullable(record(string())),
  id: string(),
  installUrl: nullable(string()),
  isAccessible: boolean(),
  isEnabled: boolean(),
  labels: nullable(record(string())),
  logoUrl: nullable(string()),
  logoUrlDark: nullable(string()),
  name: string(),
  pluginDisplayNames: array(string()),
}));
export type AppInfo = Static<typeof AppInfo>;

export const AppsListParams = object("AppsListParams", () => ({
  cursor: optional(string()),
  forceRefetch: omittable(boolean()),
  limit: optional(integer("uint32")),
  threadId: optional(string()),
}));
export type AppsListParams = Static<typeof AppsListParams>;

export const AppsListResponse = object("AppsListResponse", () => ({
  data: array(AppInfo),
  nextCursor: nullable(string()),
}));
export type AppsListResponse = Static<typeof AppsListResponse>;
