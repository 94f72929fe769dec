import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { freshFolder } from "../../../../test/support/folder.ts";
import { littleProxy } from "../../../../test/support/little-proxy.ts";
import { NAMED_CERTIFICATE, TEST_CERTIFICATE } from "../../../../test/support/test-certificate.ts";
import { proxiedFetch } from "./proxy-fetch.ts";
import { isLoopback, isUnaffected, proxySettings } from "./proxy-settings.ts";

const { signal } = new AbortController();
const answer: RequestListener = (request, response) =>
  void request.resume().on("end", () => response.end(`${request.method} ${request.headers.host}`));

async function origin(certificate?: { readonly key: string; readonly cert: string }): Promise<URL> {
  const server = certificate === undefined ? createServer(answer) : createSecureServer(certificate, answer);
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return new URL(`http${certificate === undefined ? "" : "s"}://127.0.0.1:${port}`);
}

async function certFile(cert: string): Promise<string> {
  const file = join(await freshFolder(), "ca.pem");
  await writeFile(file, cert);
  return file;
}

async function over(env: Readonly<Record<string, string>>) {
  const { fetch, http } = await proxiedFetch(proxySettings(env)!);
  return {
    fetch: async (url: string) => (await fetch(url)).text(),
    http: async (url: string, more: object = {}) => {
      const { body } = await http(new URL(url), { method: "POST", headers: {}, body: "x", signal, ...more });
      const pieces: Uint8Array[] = [];
      for await (const piece of body ?? []) pieces.push(piece);
      return Buffer.concat(pieces).toString();
    },
  };
}

describe("requests with a proxy in the environment", () => {
  it("[PROXY-1] go to plain addresses by it, and by a tunnel to those with TLS", async () => {
    const routes = { "model.test:80": await origin(), "model.test:443": await origin(NAMED_CERTIFICATE) };
    const { url, asked } = await littleProxy({ routes });
    const { fetch, http } = await over({
      HTTP_PROXY: url.replace("http://", ""),
      HTTPS_PROXY: url,
      SSL_CERT_FILE: await certFile(NAMED_CERTIFICATE.cert),
    });
    expect(await fetch("http://model.test/a?b=c")).toBe("GET model.test");
    expect(await http("http://model.test/d")).toBe("POST model.test");
    expect(await http("http://model.test/d", { single: true })).toBe("POST model.test");
    // The user and password of the URL are sent as a header.
    expect(await http("http://user:word@model.test/d")).toBe("POST model.test");
    expect(await fetch("https://model.test/a")).toBe("GET model.test");
    expect(await http("https://model.test/a")).toBe("POST model.test");
    expect(asked.slice(0, 5)).toEqual([
      "GET http://model.test/a?b=c",
      "POST http://model.test/d",
      "POST http://model.test/d",
      "POST http://model.test/d",
      "CONNECT model.test:443",
    ]);
  });

  it("[PROXY-1] say who asks, to a proxy that wants to know, also over TLS", async () => {
    const authorization = `Basic ${Buffer.from("me:se/cret").toString("base64")}`;
    const routes = { "model.test:80": await origin(), "model.test:443": await origin(NAMED_CERTIFICATE) };
    const options = { routes, authorization };
    const SSL_CERT_FILE = await certFile(NAMED_CERTIFICATE.cert);
    for (const proxy of [
      await littleProxy(options),
      await littleProxy({ ...options, certificate: NAMED_CERTIFICATE }),
    ]) {
      const withName = proxy.url.replace("://", "://me:se%2Fcret@");
      const { fetch, http } = await over({ http_proxy: withName, SSL_CERT_FILE });
      expect(await fetch("http://model.test/")).toBe("GET model.test");
      expect(await http("https://model.test/")).toBe("POST model.test");
      const without = await over({ HTTPS_PROXY: proxy.url, SSL_CERT_FILE });
      await expect(without.fetch("https://model.test/")).rejects.toThrow();
    }
  });

  it("[PROXY-2] go past it to hosts of NO_PROXY and to this machine", async () => {
    const direct = await origin();
    const { url, asked } = await littleProxy({ routes: { "model.test:80": direct } });
    const { fetch } = await over({ HTTP_PROXY: url, NO_PROXY: "other.test, .inner.test" });
    expect(await fetch(`http://127.0.0.1:${direct.port}/`)).toContain("GET 127.0.0.1");
    expect(await fetch(`http://localhost:${direct.port}/`)).toContain("GET localhost");
    expect(await fetch("http://model.test/")).toBe("GET model.test");
    for (const host of ["other.test", "a.inner.test"])
      await expect(fetch(`http://${host}/`)).rejects.toThrow();
    expect(asked).toEqual(["GET http://model.test/"]);
    const none = await over({ HTTP_PROXY: url, NO_PROXY: "*" });
    await expect(none.fetch("http://model.test/")).rejects.toThrow();
    expect(asked).toHaveLength(1);
  });
});

it("[PROXY-1] names the variable with an invalid address, without its value", async () => {
  for (const value of ["ftp://me:hunter2@x", "http://me:hunter2@ x"]) {
    const failed = over({ HTTPS_PROXY: value });
    await expect(failed).rejects.toThrow("HTTPS_PROXY is not the address of a proxy");
    await expect(failed).rejects.not.toThrow(/hunter2/);
  }
});

describe("requests with SSL_CERT_FILE", () => {
  it("[PROXY-3] trust the authorities in it, and no others", async () => {
    const server = await origin(TEST_CERTIFICATE);
    const trusting = await over({ SSL_CERT_FILE: await certFile(TEST_CERTIFICATE.cert) });
    expect(await trusting.fetch(`${server}`)).toContain("GET 127.0.0.1");
    expect(await trusting.http(`${server}`)).toContain("POST 127.0.0.1");
    const other = await over({ SSL_CERT_FILE: await certFile(NAMED_CERTIFICATE.cert) });
    await expect(other.fetch(`${server}`)).rejects.toThrow();
  });

  it("[PROXY-3] fail with an error that names the file if it cannot be read", async () => {
    const file = join(await freshFolder(), "none.pem");
    await expect(over({ SSL_CERT_FILE: file })).rejects.toThrow(/SSL_CERT_FILE cannot be read: .*none\.pem/);
  });
});

it("[PROXY-2] leaves plain requests alone that no proxy is for", () => {
  const certificates = proxySettings({ SSL_CERT_FILE: "/ca.pem" })!;
  const proxy = proxySettings({ HTTP_PROXY: "http://proxy:3128" })!;
  const [plain, here, tls] = ["http://far/", "http://127.0.0.1:1/", "https://far/"].map(
    (url) => new URL(url),
  );
  expect([plain!, here!, tls!].map((url) => isUnaffected(certificates, url))).toEqual([true, true, false]);
  expect([plain!, here!, tls!].map((url) => isUnaffected(proxy, url))).toEqual([false, true, false]);
});

it("[PROXY-2] takes the variables in either case, and nothing where there is none", () => {
  expect(proxySettings({ PATH: "/bin", NO_PROXY: "x", HTTP_PROXY: "" })).toBeUndefined();
  expect(proxySettings({ http_proxy: "a:1", HTTP_PROXY: "b:1", no_proxy: "x" })).toEqual({
    httpProxy: "http://a:1",
    httpsProxy: "http://a:1",
    noProxy: "x",
    certFile: undefined,
  });
  const hosts = [
    "localhost",
    "127.0.0.1",
    "127.1.2.3",
    "[::1]",
    "127.0.0.1.example.org",
    "localhost.example.org",
  ];
  expect(hosts.filter(isLoopback)).toEqual(hosts.slice(0, 4));
});
