/** A file of the console, in memory. */
export interface StaticFile {
  readonly type: string;
  readonly body: Buffer;
  /** The compressed content, by the name of the encoding. */
  readonly encoded?: Readonly<Partial<Record<Encoding, Buffer>>>;
}

/** The encodings that the build makes of each asset, the smallest first. */
export const ENCODINGS = ["br", "gzip"] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** The files of the console by path, such as `/index.html` and `/assets/main-3f9c.js`. */
export type StaticFilesByPath = ReadonlyMap<string, StaticFile>;

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  woff2: "font/woff2",
};

/** The content type by a file's ending; undefined for an ending that no file of the console has. */
export function contentTypeOf(name: string): string | undefined {
  const ending = /\.([a-z0-9]+)$/.exec(name)?.[1];
  return ending === undefined ? undefined : TYPES[ending];
}
