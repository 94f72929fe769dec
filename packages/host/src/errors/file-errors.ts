/** Errors of files: `fs/*`, watches and file searches. */
export const FILE_ERRORS = {
  // File system errors have the message and number of the operating system, which clients look for.
  fileNotFound: { wire: -32603, retryable: false, text: (os: string) => `No such file or directory${os}` },
  notAFolder: { wire: -32603, retryable: false, text: (os: string) => `Not a directory${os}` },
  isAFolder: { wire: -32603, retryable: false, text: (os: string) => `Is a directory${os}` },
  fileExists: { wire: -32603, retryable: false, text: (os: string) => `File exists${os}` },
  folderNotEmpty: { wire: -32603, retryable: false, text: (os: string) => `Directory not empty${os}` },
  linkLoop: { wire: -32603, retryable: false, text: (os: string) => `Symbolic link loop${os}` },
  fileNameTooLong: { wire: -32603, retryable: false, text: (os: string) => `Filename too long${os}` },
  fileNotPermitted: { wire: -32603, retryable: false, text: (why: string) => why },
  diskFull: { wire: -32603, retryable: true, text: (os: string) => `No space left on device${os}` },
  fileFailed: { wire: -32603, retryable: false, text: (why: string) => why },
  notAFile: { wire: -32600, retryable: false, text: (path: string) => `path \`${path}\` is not a file` },
  pathWithNul: {
    wire: -32600,
    retryable: false,
    text: () => "file name contained an unexpected NUL byte",
  },
  fileTooLarge: {
    wire: -32600,
    retryable: false,
    text: (limit: number) => `file is too large to read: limit is ${limit} bytes`,
  },
  folderTooLarge: {
    wire: -32600,
    retryable: false,
    text: (limit: number) => `directory has too many entries: limit is ${limit}`,
  },
  treeTooLarge: { wire: -32600, retryable: false, text: (why: string) => `stopped halfway: ${why}` },
  badFileData: {
    wire: -32600,
    retryable: false,
    text: (why: string) => `fs/writeFile requires valid base64 dataBase64: ${why}`,
  },
  copyNotRecursive: {
    wire: -32600,
    retryable: false,
    text: () => "fs/copy requires recursive: true when sourcePath is a directory",
  },
  copyIntoItself: {
    wire: -32600,
    retryable: false,
    text: () => "fs/copy cannot copy a directory to itself or one of its descendants",
  },
  copyNotSupported: {
    wire: -32600,
    retryable: false,
    text: () => "fs/copy only supports regular files, directories, and symlinks",
  },
  watchIdTaken: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `watchId already exists: ${id}`,
  },
  tooManyWatches: {
    wire: -32600,
    retryable: true,
    text: (limit: number) => `there are ${limit} watches already; end one of them first`,
  },
  watchesExhausted: {
    wire: -32603,
    retryable: true,
    text: () => "no more files can be watched on this machine at the moment",
  },
  searchSessionIdEmpty: { wire: -32600, retryable: false, text: () => "sessionId must not be empty" },
  searchSessionNotFound: {
    wire: -32600,
    retryable: false,
    text: (id: string) => `fuzzy file search session not found: ${id}`,
  },
  searchNeedsRoots: {
    wire: -32603,
    retryable: false,
    text: () => "failed to start fuzzy file search session: at least one search directory is required",
  },
  tooManySearches: {
    wire: -32600,
    retryable: true,
    text: (limit: number) => `there are ${limit} searches already; end one of them first`,
  },
  searchFailed: {
    wire: -32603,
    retryable: true,
    text: () => "the file search stopped unexpectedly; search again",
  },
  noRemoteDiff: {
    wire: -32600,
    retryable: false,
    text: (cwd: string, why: string) =>
      `failed to compute git diff to remote for cwd: ${JSON.stringify(cwd)}: ${why}`,
  },
} as const;
