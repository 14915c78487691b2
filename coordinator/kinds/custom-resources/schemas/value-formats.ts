/** The `format` of string values (apiextensions-apiserver pkg/apiserver/validation/formats.go). Others are ignored. */
import { isIPv4, isIPv6 } from 'node:net';
import { isTimeText } from '../../../../shared/kube/objects/meta.js';
import { dnsLabelProblems, dnsSubdomainProblems } from '../../validation/name-rules.js';

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const DURATION =
  /^[-+]?(0|(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))*)$/;
const LONG_DURATION =
  /^[-+]?\d+(\.\d+)?\s*(ns|nanos?|us|µs|micros?|ms|millis?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?)$/;
const MAC = /^([0-9a-f]{2}([:-])[0-9a-f]{2}(\2[0-9a-f]{2}){4}|[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4})$/i;
const EMAIL = /^[^\s@<>]{1,64}@[^\s@<>]{1,255}$/;
const HOSTNAME =
  /^[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?)*$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;

function isCidr(text: string): boolean {
  const [address = '', length = '', ...rest] = text.split('/');
  if (rest.length > 0 || !/^\d{1,3}$/.test(length)) return false;
  if (isIPv4(address)) return Number(length) <= 32;
  return isIPv6(address) && Number(length) <= 128;
}

/** Go's decoder ignores line breaks. A pattern that matches them in two places takes quadratic time. */
function isBase64(text: string): boolean {
  const characters = text.replace(/[\r\n]/g, '');
  return characters.length % 4 === 0 && BASE64.test(characters);
}

function isUri(text: string): boolean {
  return text.startsWith('/') || URL.canParse(text);
}

function isUuidOfVersion(version: string): (text: string) => boolean {
  return (text) => UUID.test(text) && text.replaceAll('-', '')[12] === version;
}

/** By the format's name without hyphens. */
const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  byte: isBase64,
  cidr: isCidr,
  date: (text) => DATE.test(text),
  datetime: isTimeText,
  duration: (text) => DURATION.test(text) || LONG_DURATION.test(text),
  email: (text) => EMAIL.test(text),
  hexcolor: (text) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
  hostname: (text) => text.length <= 255 && HOSTNAME.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  k8slongname: (text) => dnsSubdomainProblems(text).length === 0,
  k8sshortname: (text) => dnsLabelProblems(text).length === 0,
  mac: (text) => MAC.test(text),
  ssn: (text) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  uri: isUri,
  uuid: (text) => UUID.test(text),
  uuid3: isUuidOfVersion('3'),
  uuid4: isUuidOfVersion('4'),
  uuid5: isUuidOfVersion('5'),
};

/** True if the text has the format, or if the format is not checked. */
export function hasFormat(text: string, format: string): boolean {
  const name = format.replaceAll('-', '');
  const check = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
  return check ? check(text) : true;
}
