import type { Attempt, Script } from "./attempt.ts";
import { reachesKernel, succeeds } from "./attempt.ts";

const everybody = (script: string): Script => ({ script, worksFor: "everybody" });
const root = (script: string): Script => ({ script, worksFor: "root" });
const nobody = (script: string): Script => ({ script, worksFor: "nobody" });

const files = (id: string, tries: string, how: Script): Attempt => ({
  id,
  tries,
  setting: "workspace-write",
  how,
});

/** Files, mounts, /proc, cgroups and devices. */
export const FILE_ATTEMPTS: readonly Attempt[] = [
  {
    id: "write-read-only",
    tries: "write to the workspace under read-only",
    setting: "read-only",
    how: everybody('echo x > "$WORK/new"'),
  },
  {
    id: "write-tmp-read-only",
    tries: "write to /tmp under read-only",
    setting: "read-only",
    how: everybody('f=$(mktemp /tmp/escape-XXXXXX) && rm "$f"'),
  },
  files("write-outside", "write a file outside of the workspace", everybody('echo x > "$OUTSIDE/new"')),
  files("write-dotdot", "write through `..`", everybody('echo x > "$WORK/../outside/dotdot"')),
  files(
    "write-symlink",
    "write through a symbolic link to a file outside",
    everybody('ln -sfn "$OUTSIDE/victim" "$WORK/link" && echo x > "$WORK/link"'),
  ),
  files(
    "write-symlink-folder",
    "write through a symbolic link to a folder outside",
    everybody('ln -sfn "$OUTSIDE" "$WORK/folder" && echo x > "$WORK/folder/new"'),
  ),
  files(
    "hard-link-in",
    "hard-link a file from outside into the workspace and write to it",
    everybody('ln -f "$OUTSIDE/victim" "$WORK/hard" && echo x > "$WORK/hard"'),
  ),
  files(
    "hard-link-out",
    "hard-link a file of the workspace to a place outside",
    everybody('touch "$WORK/own" && ln -f "$WORK/own" "$OUTSIDE/hard"'),
  ),
  files(
    "rename-out",
    "rename a file from the workspace to a place outside",
    everybody(
      'touch "$WORK/moved" && perl -e \'exit(rename("$ENV{WORK}/moved", "$ENV{OUTSIDE}/moved") ? 0 : 1)\'',
    ),
  ),
  files(
    "rename-in",
    "rename a file from outside into the workspace",
    everybody('perl -e \'exit(rename("$ENV{OUTSIDE}/movable", "$ENV{WORK}/movable") ? 0 : 1)\''),
  ),
  files(
    "rename-root",
    "rename the workspace itself, to put another folder in its place",
    everybody('cd / && mv "$WORK" "$WORK.old" && mv "$WORK.old" "$WORK"'),
  ),
  files("remove-outside", "remove a file outside", everybody('rm "$OUTSIDE/removable"')),
  files("truncate-outside", "truncate a file outside", everybody(': > "$OUTSIDE/victim"')),
  files("chmod-outside", "change the mode of a file outside", everybody('chmod 600 "$OUTSIDE/victim"')),
  files("touch-outside", "change the times of a file outside", everybody('touch -d @0 "$OUTSIDE/victim"')),
  files("fifo-outside", "make a named pipe outside", everybody('mkfifo "$OUTSIDE/fifo"')),
  files(
    "user-cache",
    "write to the user's own cache folder, which other programs trust",
    everybody('echo x > "$USER_HOME/.cache/poison"'),
  ),
  files("user-profile", "append to the user's shell profile", everybody('echo x >> "$USER_HOME/.profile"')),
  files(
    "read-home",
    "read the home of the host, with its keys and threads",
    everybody('grep -q secret "$HOST_HOME/auth.json"'),
  ),
  files(
    "read-home-symlink",
    "read the home of the host through a symbolic link",
    everybody('ln -sfn "$HOST_HOME" "$WORK/home" && grep -q secret "$WORK/home/auth.json"'),
  ),
  files(
    "read-home-proc",
    "read the home of the host through /proc/1/root",
    everybody('grep -q secret "/proc/$$/root$HOST_HOME/auth.json"'),
  ),
  files(
    "write-home-config",
    "write config.toml in the home of the host",
    everybody('echo x > "$HOST_HOME/config.toml"'),
  ),
  files(
    "write-settings",
    "change settings of the project in .codex",
    everybody('echo x > "$WORK/.codex/config.toml"'),
  ),
  files(
    "exchange-settings",
    "exchange the folder .codex for another one",
    everybody('mv "$WORK/.codex" "$WORK/old" && mkdir "$WORK/.codex"'),
  ),
  files(
    "proc-root",
    "write through /proc/1/root",
    everybody(
      'echo x > "/proc/1/root$OUTSIDE/proc-root" || { grep -q "$MARK" "/proc/$OTHER_PID/cmdline" && echo x > "/proc/$OTHER_PID/root$OUTSIDE/proc-root"; }',
    ),
  ),
  files(
    "proc-self-root",
    "write through /proc/self/root",
    everybody('echo x > "/proc/self/root$OUTSIDE/self-root"'),
  ),
  files(
    "proc-cwd",
    "write through /proc/self/cwd/..",
    everybody('cd "$WORK" && echo x > /proc/self/cwd/../outside/proc-cwd'),
  ),
  files(
    "proc-sys",
    "write to /proc/sys/kernel/core_pattern, which names a program that runs as root outside",
    root(
      "cat /proc/sys/kernel/core_pattern > $WORK/pattern && cat $WORK/pattern > /proc/sys/kernel/core_pattern",
    ),
  ),
  files(
    "proc-sys-net",
    "write to /proc/sys/net",
    root(
      "cat /proc/sys/net/ipv4/ip_forward > $WORK/forward && cat $WORK/forward > /proc/sys/net/ipv4/ip_forward",
    ),
  ),
  files("proc-sysrq", "write to /proc/sysrq-trigger", nobody("echo h > /proc/sysrq-trigger")),
  files(
    "sys-write",
    "write to /sys",
    nobody(
      "for f in /sys/kernel/mm/ksm/run /sys/kernel/rcu_expedited /sys/kernel/uevent_helper; do (cat $f > $WORK/sys && cat $WORK/sys > $f) && exit 0; done; exit 1",
    ),
  ),
  files(
    "cgroup-make",
    "make a cgroup",
    nobody("mkdir /sys/fs/cgroup/bobbin-escape && rmdir /sys/fs/cgroup/bobbin-escape"),
  ),
  files(
    "cgroup-move",
    "move into the root cgroup, out of limits",
    nobody("echo $$ > /sys/fs/cgroup/cgroup.procs"),
  ),
  files("device-disk", "make a device for a disk", nobody('mknod "$WORK/disk" b 8 0')),
  files("device-memory", "make a device for memory", nobody('mknod "$WORK/mem" c 1 1')),
  files(
    "device-null",
    "make a device and write to it",
    root('mknod "$WORK/null" c 1 3 && echo x > "$WORK/null"'),
  ),
  files(
    "device-kvm",
    "use virtual machines, FUSE or kernel messages through /dev",
    nobody(
      "test -e /dev/kvm || test -e /dev/fuse || test -e /dev/kmsg || test -e /dev/vda || test -e /dev/sda",
    ),
  ),
  files("shared-memory-file", "find files of others in /dev/shm", everybody('test -e "/dev/shm/$MARK"')),
  files(
    "set-user-id",
    "leave a program that runs as its owner, whoever starts it (chmod u+s)",
    everybody('cp /bin/true "$WORK/suid" && chmod u+s "$WORK/suid"'),
  ),
  files(
    "set-user-id-made",
    "make such a program in one step",
    everybody(succeeds("openat", -100, '"$ENV{WORK}/suid-made"', 0o101, 0o4755)),
  ),
  files(
    "mount-bind",
    "mount a folder again, writable",
    root(
      'mkdir -p "$WORK/mnt" && mount --bind "$OUTSIDE" "$WORK/mnt" && echo x > "$WORK/mnt/bound"; s=$?; umount "$WORK/mnt" 2>/dev/null; exit $s',
    ),
  ),
  files("mount-remount", "make / writable by mounting it again", nobody("mount -o remount,rw,bind /")),
  files(
    "mount-remount-call",
    "the same by the system call",
    reachesKernelFor("mount", '"none"', '"/"', "0", 0x1020, "0"),
  ),
  files(
    "mount-tmpfs",
    "cover a folder with an empty file system",
    root('mkdir -p "$WORK/empty" && mount -t tmpfs none "$WORK/empty" && umount "$WORK/empty"'),
  ),
  files("unmount", "unmount what protects /proc/sys", nobody("umount -l /proc/sys")),
  files(
    "unmount-home",
    "unmount what hides the home of the host",
    nobody('umount -l "$HOST_HOME" && test -e "$HOST_HOME/auth.json"'),
  ),
  files("mount-open-tree", "copy a mount with open_tree", reachesKernelFor("open_tree", -100, '"/"', 1)),
  files("mount-fsopen", "make a file system with fsopen", reachesKernelFor("fsopen", '"tmpfs"', 0)),
  files("mount-move", "move a mount with move_mount", reachesKernelFor("move_mount", -1, '""', -1, '""', 0)),
  files(
    "mount-setattr",
    "make a mount writable with mount_setattr",
    reachesKernelFor("mount_setattr", -1, '""', 0, "0", 0),
  ),
  files(
    "pivot-root",
    "exchange the root with pivot_root",
    reachesKernelFor("pivot_root", '"/nowhere"', '"/nowhere"'),
  ),
  files("chroot", "leave by chroot", root(succeeds("chroot", '"/"'))),
  files(
    "file-handle",
    "open a file by its handle, past all mounts",
    reachesKernelFor("open_by_handle_at", -1, '"x" x 64', 0),
  ),
];

function reachesKernelFor(call: string, ...args: readonly (string | number)[]): Script {
  return root(reachesKernel(call, ...args));
}
