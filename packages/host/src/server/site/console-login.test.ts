import { describe, expect, it } from "vitest";
import { ConsoleLogin } from "./console-login.ts";

const PAGE = "http://127.0.0.1:4545";
const USER = { principal: { kind: "token" } };

function consoleLogin(secret = Buffer.alloc(32, 7)) {
  const clock = { now: 1_000_000 };
  let last = 0;
  const random = (bytes: number) => Buffer.from(String(++last).padStart(bytes, "0"));
  return { clock, login: new ConsoleLogin({ now: () => clock.now, random, secret }) };
}

function keyOf(login: ConsoleLogin): string {
  const redeemed = login.redeem(login.issueToken());
  if ("status" in redeemed) throw new Error(redeemed.code);
  return redeemed.key;
}

describe("a token for the console", () => {
  it("gives a session key once", () => {
    const { login } = consoleLogin();
    const token = login.issueToken();
    expect(login.redeem(token)).toMatchObject({ key: expect.stringMatching(/^bobbin-session\./) });
    expect(login.redeem(token)).toMatchObject({ status: 401, code: "consoleTokenUsed" });
  });

  it("expires after ten minutes unused", () => {
    const { clock, login } = consoleLogin();
    const [early, late] = [login.issueToken(), login.issueToken()];
    clock.now += 10 * 60_000 - 1;
    expect(login.redeem(early)).toHaveProperty("key");
    clock.now += 1;
    expect(login.redeem(late)).toMatchObject({ status: 401, code: "consoleTokenExpired" });
  });

  it("is refused with the command that makes another, whatever is wrong", () => {
    const { login } = consoleLogin();
    for (const token of ["", "guess", "x".repeat(4000)])
      expect(login.redeem(token)).toMatchObject({
        status: 401,
        code: "consoleTokenUnknown",
        message: expect.stringContaining("bobbin open"),
      });
  });

  it("is forgotten when very many were made after it", () => {
    const { login } = consoleLogin();
    const first = login.issueToken();
    const later = Array.from({ length: 256 }, () => login.issueToken());
    expect(login.redeem(first)).toMatchObject({ code: "consoleTokenUnknown" });
    expect(login.redeem(later[255]!)).toHaveProperty("key");
  });
});

describe("a session key", () => {
  it("stands for the host's user for 30 days, also in the next host on the home", () => {
    const { login } = consoleLogin();
    const key = keyOf(login);
    const { login: next, clock } = consoleLogin();
    expect(next.isKey(key)).toBe(true);
    expect(next.verifyKey(key)).toEqual(USER);
    clock.now += 30 * 24 * 60 * 60_000;
    expect(next.verifyKey(key)).toMatchObject({ status: 401, code: "sessionExpired" });
  });

  it("is worth nothing where the secret is another, and when it was changed", () => {
    const key = keyOf(consoleLogin().login);
    const { login } = consoleLogin(Buffer.alloc(32, 8));
    expect(login.verifyKey(key)).toMatchObject({ status: 401, code: "sessionInvalid" });
    const [prefix, expires, ...rest] = key.split(".");
    const longer = [prefix, Number(expires) + 1, ...rest].join(".");
    for (const forged of [longer, `${key}x`, key.slice(0, -1), "bobbin-session.", "bobbin-session.1.2.3"])
      expect(consoleLogin().login.verifyKey(forged)).toMatchObject({ code: "sessionInvalid" });
  });
});

describe("a ticket", () => {
  function ticketOf(login: ConsoleLogin, origin = PAGE): string {
    const issued = login.issueTicket({ kind: "subject", subject: "ada" }, origin);
    if ("status" in issued) throw new Error(issued.code);
    return issued.ticket;
  }
  const ada = { principal: { kind: "subject", subject: "ada" } };

  it("stands for whom it was made for, once", () => {
    const { login } = consoleLogin();
    const ticket = ticketOf(login);
    expect(login.checkTicket(ticket, PAGE)).toEqual(ada);
    expect(login.checkTicket(ticket, `${PAGE.toUpperCase()}/`)).toEqual(ada);
    expect([login.takeTicket(ticket), login.takeTicket(ticket)]).toEqual([true, false]);
    expect(login.checkTicket(ticket, PAGE)).toMatchObject({ status: 401, code: "ticketInvalid" });
  });

  it("is for pages of one origin", () => {
    const { login } = consoleLogin();
    const ticket = ticketOf(login);
    for (const origin of [undefined, "http://127.0.0.1:4546", "null"])
      expect(login.checkTicket(ticket, origin)).toMatchObject({ status: 403, code: "ticketOrigin" });
  });

  it("expires after 30 seconds", () => {
    const { clock, login } = consoleLogin();
    const ticket = ticketOf(login);
    clock.now += 30_000;
    expect(login.checkTicket(ticket, PAGE)).toMatchObject({ code: "ticketInvalid" });
  });

  it("is not made when too many are unused, until these have expired", () => {
    const clock = { now: 0 };
    let last = 0;
    const random = (bytes: number) => Buffer.from(String(++last).padStart(bytes, "0"));
    const login = new ConsoleLogin({ now: () => clock.now, random, secret: Buffer.alloc(32) });
    for (let nth = 0; nth < 4096; nth++) ticketOf(login);
    expect(login.issueTicket({ kind: "token" }, PAGE)).toMatchObject({ status: 503, code: "tooManyTickets" });
    clock.now += 30_000;
    expect(login.issueTicket({ kind: "token" }, PAGE)).toHaveProperty("ticket");
  });
});
