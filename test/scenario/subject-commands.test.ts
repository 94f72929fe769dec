// What commands of a subject's threads see of the machine: its own folders, programs, and nothing else.
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { MockModel, responses } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { call, say } from "../support/rap-stage.ts";
import { hasSandbox } from "../support/sandbox-here.ts";
import { KEY, signedBearer } from "../support/signed-token.ts";
import type { WireClient } from "../support/wire-client.ts";

let host: HostProcess;
let model: MockModel;
let home: string;
/** `top/work` is the subject's folder, `top/other` that of another one. */
let top: string;
let cara: WireClient;

const at = (...names: string[]) => join(top, ...names);

beforeAll(async () => {
  top = await freshFolder("top");
  for (const name of ["work/inner", "other"]) await mkdir(at(name), { recursive: true });
  await writeFile(at("secret.txt"), "secret-above");
  await writeFile(at("other", "secret.txt"), "secret-of-another");
  await writeFile(at("work", "mine.txt"), "of-cara");
  await symlink(at("other"), at("work", "door"));
  model = await MockModel.start(say("Done."));
  ({ home } = await modelHome("responses", model.url, {
    provider: [
      "[subjects.cara]",
      `roots = ["${at("work")}"]`,
      "[subjects.dora]",
      `roots = ["${at("other")}"]`,
    ],
  }));
  await writeFile(join(home, "key"), KEY);
  const auth = ["--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", join(home, "key")];
  const env = { SHELL: "/bin/bash", SECRET_OF_HOST: "secret-variable", HARMLESS: "secret-by-value" };
  host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0", ...auth], env });
  cara = await host.connect(undefined, signedBearer("cara"));
  await cara.initialize({ experimentalApi: true });
});

/** What the model is given for a command. */
async function outputOf(threadId: string, args: object): Promise<string> {
  model.reply(call(responses.call("exec_command", JSON.stringify(args))), say("Done."));
  await cara.turn(threadId, "Do it.");
  return model.asked.at(-1)!.body.input.at(-1).output;
}

describe.runIf(hasSandbox)("a command of a subject's thread", () => {
  it("[REACH-6] reads the subject's folders, and nothing else of the machine", async () => {
    const threadId = await cara.startThread();
    expect(await outputOf(threadId, { cmd: "cat mine.txt; echo $HOME; ls /usr/bin | head -1" })).toMatch(
      /of-cara\/tmp\n./,
    );
    for (const cmd of [
      `cat ${at("secret.txt")} ${at("other", "secret.txt")}`,
      "cat ../secret.txt door/secret.txt",
      `cat /proc/1/root${at("secret.txt")} /proc/self/root${at("secret.txt")}`,
      `cat ${join(home, "key")} ${join(home, "config.toml")}; ls -R ${home}`,
      "env; cat /proc/*/environ",
      "cat /etc/shadow /etc/sudoers; ls -A /root /home /var /opt /srv /mnt",
      `ls -A ${top}`,
    ]) {
      const output = await outputOf(threadId, { cmd });
      expect(output, cmd).not.toMatch(/secret-|base_url|SECRET_OF_HOST|root:[^x]/);
      expect(output, cmd).not.toContain(KEY);
    }
    expect((await outputOf(threadId, { cmd: `ls -A ${top}` })).trimEnd()).toMatch(/\nwork$/);
  });

  it("[REACH-6] cannot find out which folders exist", async () => {
    const threadId = await cara.startThread();
    const outputs = [];
    for (const workdir of [at("other"), at("missing")])
      outputs.push(
        (await outputOf(threadId, { cmd: "ls -A", workdir })).replace(/Chunk ID: .*\nWall time: .*\n/, ""),
      );
    expect(outputs[0]).toBe(outputs[1]);
  });

  it("[REACH-6] writes to the subject's folders if its sandbox allows it, and nowhere else", async () => {
    const reading = await cara.startThread();
    expect(await outputOf(reading, { cmd: "echo x > new.txt" })).toContain("Read-only file system");
    const writing = await cara.startThread({ sandbox: "workspace-write", approvalPolicy: "never" });
    const note = `/tmp/note-of-${basename(top)}`;
    const cmd = `echo written > new.txt; echo x > ${at("other", "new.txt")}; echo x > door/new.txt; echo mine > ${note}; cat ${note}`;
    expect(await outputOf(writing, { cmd })).toContain("mine");
    expect(await readFile(at("work", "new.txt"), "utf8")).toBe("written\n");
    expect(await readdir(at("other"))).toEqual(["secret.txt"]);
    // What one command leaves in /tmp no other one sees.
    expect(await outputOf(writing, { cmd: `cat ${note}` })).toContain("No such file");
    expect(await readdir("/tmp")).not.toContain(basename(note));
  });

  it("[REACH-6] never runs outside of the sandbox, whatever its user accepts", async () => {
    const threadId = await cara.startThread({ sandbox: "workspace-write", approvalPolicy: "on-request" });
    const output = await outputOf(threadId, {
      cmd: `cat ${at("secret.txt")}`,
      sandbox_permissions: "require_escalated",
      justification: "May I?",
    });
    expect(output).toContain("only run in the sandbox");
    const more = await outputOf(threadId, {
      cmd: `cat ${at("secret.txt")}`,
      sandbox_permissions: "with_additional_permissions",
      additional_permissions: { network: { enabled: true }, file_system: { read: [top] } },
      justification: "May I?",
    });
    expect(more).toContain("cannot be given more");
    expect(cara.frames.filter(({ method }) => method?.endsWith("requestApproval"))).toEqual([]);
  });
});
