const FOLDERS = ["/bin", "/sbin", "/usr", "/lib", "/lib32", "/lib64", "/nix/store", "/run/current-system/sw"];

/** What programs need to start at all. */
export const MINIMAL = [...FOLDERS, "/etc", "/run/systemd/resolve"];

/** The same without what is private to the machine: of its settings only those that programs look for. */
export const PROGRAMS = [
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
