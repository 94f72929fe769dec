// Checks for the JSON Schema keyword `format`. Each runs in linear time and rejects only clear mismatches. Formats that
// are not listed accept everything.

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;
const OCTET = "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";

export const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["date", isDate],
  ["time", tested(TIME)],
  [
    "date-time",
    (text) => isDate(text.slice(0, 10)) && /^[t ]/i.test(text.slice(10)) && TIME.test(text.slice(11)),
  ],
  ["duration", tested(/^P(\d+W|(?=\d|T)(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?)$/)],
  ["email", isEmail],
  ["hostname", isHostname],
  ["ipv4", tested(new RegExp(`^${OCTET}(\\.${OCTET}){3}$`))],
  ["ipv6", (text) => /^[\da-f:.]{2,45}$/i.test(text) && URL.canParse(`http://[${text}]/`)],
  ["uri", tested(/^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]*$/i)],
  ["url", tested(/^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]*$/i)],
  ["uri-reference", tested(/^[^\s<>"{}|\\^`]*$/)],
  ["uuid", tested(/^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/i)],
  ["json-pointer", tested(/^(\/([^~/]|~[01])*)*$/)],
  ["regex", isPattern],
]);

function tested(pattern: RegExp): (text: string) => boolean {
  return (text) => pattern.test(text);
}

function isDate(text: string): boolean {
  const [, year, month, day] = (DATE.exec(text) ?? []).map(Number);
  if (year === undefined) return false;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && isLeap ? 29 : (DAYS[month! - 1] ?? 0);
  return day! >= 1 && day! <= days;
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  return at > 0 && at <= 64 && at < text.length - 1 && text.length <= 320 && !/\s/.test(text.slice(at));
}

function isHostname(text: string): boolean {
  return text.length <= 253 && text.split(".").every((label) => LABEL.test(label));
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text, "u");
    return true;
  } catch {
    return false;
  }
}
