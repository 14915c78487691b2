/** Rules for IP addresses and ranges, with upstream's messages (apimachinery pkg/util/validation/ip.go). */
import { isIPv4, isIPv6 } from 'node:net';
import type { FieldError } from '../kind.js';
import { invalidValue } from './field-error.js';

const IP_INVALID = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const CIDR_INVALID = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

/** Refuses zones such as `%eth0`, like Go's ParseIP. A zone can be of any length and means something on one host only. */
export function isPlainIPv6(address: string): boolean {
  return isIPv6(address) && !address.includes('%');
}

export function validateIp(address: string, field: string): FieldError[] {
  return isIPv4(address) || isPlainIPv6(address) ? [] : [invalidValue(field, address, IP_INVALID)];
}

function isCidr(text: string): boolean {
  const [address = '', prefix = '', ...rest] = text.split('/');
  const isAddress = isIPv4(address) || isPlainIPv6(address);
  const bits = isIPv4(address) ? 32 : 128;
  return isAddress && /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits && rest.length === 0;
}

export function validateCidr(text: string, field: string): FieldError[] {
  return isCidr(text) ? [] : [invalidValue(field, text, CIDR_INVALID)];
}

/** Ranges that must not be an endpoint or an external address. */
const SPECIAL: readonly [pattern: RegExp, detail: (address: string) => string][] = [
  [/^(0\.0\.0\.0|::)$/, (address) => `may not be unspecified (${address})`],
  [/^(127\.|::1$)/, () => 'may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  [/^(169\.254\.|fe[89ab])/i, () => 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'],
  [/^(224\.0\.0\.|ff02)/i, () => 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'],
];

/** Refuses addresses that have a special meaning on each host (ValidateNonSpecialIP). */
export function validateNonSpecialIp(address: string, field: string): FieldError[] {
  const short = isIPv6(address) ? shortened(address) : address;
  return SPECIAL.filter(([pattern]) => pattern.test(short)).map(([, detail]) =>
    invalidValue(field, address, detail(address)),
  );
}

/** Returns an IPv6 address in its shortest form, as a URL has it. An address of `::ffff:0:0/96` is returned as IPv4. */
function shortened(address: string): string {
  const short = new URL(`http://[${address.replace(/%.*/, '')}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(short) ?? [];
  if (high === undefined || low === undefined) return short;
  const [one, two] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [one >> 8, one & 255, two >> 8, two & 255].join('.');
}
