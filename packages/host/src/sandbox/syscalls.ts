/** Processor architectures that the filter supports, by Node's names. */
export type Arch = "x64" | "arm64";

/** `AUDIT_ARCH_*`: the kernel's ids of the system call interface. */
export const AUDIT_ARCH: Readonly<Record<Arch, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** The numbers of one system call on x64 and on arm64; null where it does not exist. */
export type Numbers = readonly [x64: number, arm64: number | null];

/** Always refused with EPERM: calls that reach other processes, the kernel or the mounts. */
export const REFUSED = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  open_tree_attr: [467, 467],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_by_handle_at: [304, 265],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  fanotify_init: [300, 262],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  syslog: [103, 116],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  iopl: [172, null],
  ioperm: [173, null],
} as const satisfies Record<string, Numbers>;

/** Refused with ENOSYS, so that programs fall back to the older call, whose arguments the filter can read. */
export const EMULATED_AS_MISSING = {
  // The flags of `clone3` are in memory, which a filter cannot read.
  clone3: [435, 435],
  openat2: [437, 437],
  // io_uring connects and sends without the system calls of that name.
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
} as const satisfies Record<string, Numbers>;

/** Refused with EPERM when a command has no network. */
export const NETWORK = {
  socket: [41, 198],
  connect: [42, 203],
  bind: [49, 200],
  listen: [50, 201],
  accept: [43, 202],
  accept4: [288, 242],
} as const satisfies Record<string, Numbers>;

/** Refused depending on the arguments. */
export const INSPECTED = {
  clone: [56, 220],
  unshare: [272, 97],
  ioctl: [16, 29],
  socket: [41, 198],
  socketpair: [53, 199],
} as const satisfies Record<string, Numbers>;

/** Calls that set the mode of a file, with the position of the mode argument. */
export const MODE_CALLS = {
  chmod: { numbers: [90, null], mode: 1 },
  fchmod: { numbers: [91, 52], mode: 1 },
  fchmodat: { numbers: [268, 53], mode: 2 },
  fchmodat2: { numbers: [452, 452], mode: 2 },
  creat: { numbers: [85, null], mode: 1 },
  mknod: { numbers: [133, null], mode: 1 },
  mknodat: { numbers: [259, 33], mode: 2 },
  // The mode of these calls matters only if a flag creates the file.
  open: { numbers: [2, null], mode: 2, flags: 1 },
  openat: { numbers: [257, 56], mode: 3, flags: 2 },
} as const satisfies Record<string, ModeCall>;

/** A system call with a file mode, and the positions of its arguments. */
export interface ModeCall {
  readonly numbers: Numbers;
  readonly mode: number;
  readonly flags?: number;
}

/** The numbers on one architecture, without calls that it does not have. */
export function numbersOn(arch: Arch, calls: Readonly<Record<string, Numbers>>): readonly number[] {
  return Object.values(calls)
    .map((numbers) => numberOn(arch, numbers))
    .filter((number) => number !== null);
}

export function numberOn<N extends Numbers>(arch: Arch, [x64, arm64]: N): N[0] | N[1] {
  return arch === "x64" ? x64 : arm64;
}
