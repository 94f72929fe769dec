const FOLDERS = ["/bin", "/sbin", "/usr", "/lib", "/lib32", "/lib64", "/nix/store", "/run/current-system/sw"];

/** Paths that programs need in order to start. */
export const SYSTEM_PATHS = [...FOLDERS, "/etc", "/run/systemd/resolve"];

/** Like `SYSTEM_PATHS`, without the machine's private settings: of /etc only the files that programs look for. */
export const PUBLIC_SYSTEM_PATHS = [
  ...FOLDERS,
  "/run/systemd/resolve",
  ...[
    "alternatives",
    "bash.bashrc",
    "ca-certificates",
    "ca-certificates.conf",
    "debian_version",
    "fonts",
    "group",
    "host.conf",
    "hosts",
    "inputrc",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "locale.conf",
    "localtime",
    "magic",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki/tls/certs",
    "profile",
    "profile.d",
    "protocols",
    "resolv.conf",
    "services",
    "shells",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
  ].map((name) => `/etc/${name}`),
];
