/** Named formats such as dns1123Label (k8s.io/apiserver pkg/cel/library/format.go). */
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelValueProblems,
  qualifiedNameProblems,
} from '../../kinds/validation/name-rules.js';
import { exactly, plus, REGEX_FACTOR, STRING_FACTOR, scaled, times } from '../language/cel-cost.js';
import { type CelOpaque, CelOptional, type CelValue, sizeOfValue } from '../language/cel-value.js';
import { type CallCost, type Overload, overload } from '../language/overload.js';
import { parseTimestamp } from './time-text.js';
import { parseUrl } from './url-library.js';

type Check = (text: string) => string[];

class Format implements CelOpaque {
  readonly opaque = 'kubernetes.NamedFormat';
  constructor(
    readonly name: string,
    readonly check: Check,
    readonly regexSize: number,
  ) {}

  get equalityKey(): string {
    return this.name;
  }
}

/** A prefix may end with a dash: another part of the name follows. */
const asPrefix =
  (check: Check): Check =>
  (text) =>
    check(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -1)}a` : text);

const DNS_1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

const dns1035: Check = (text) => [
  ...(text.length > 63 ? ['must be no more than 63 characters'] : []),
  ...(/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(text) ? [] : [DNS_1035]),
];

const matching =
  (pattern: RegExp, problem: string): Check =>
  (text) =>
    pattern.test(text) ? [] : [problem];

function isTimestamp(text: string): boolean {
  try {
    return parseTimestamp(text) !== undefined;
  } catch {
    return false;
  }
}

const isDate: Check = (text) => (isTimestamp(`${text}T00:00:00Z`) ? [] : ['invalid date']);
const isDateTime: Check = (text) => (isTimestamp(text) ? [] : ['invalid datetime']);
const isUri: Check = (text) =>
  parseUrl(text) ? [] : [`parse ${JSON.stringify(text)}: invalid URI for request`];
const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const FORMATS: ReadonlyMap<string, Format> = new Map(
  (
    [
      ['dns1123Label', dnsLabelProblems, 30],
      ['dns1123Subdomain', dnsSubdomainProblems, 60],
      ['dns1035Label', dns1035, 30],
      ['qualifiedName', qualifiedNameProblems, 60],
      ['dns1123LabelPrefix', asPrefix(dnsLabelProblems), 30],
      ['dns1123SubdomainPrefix', asPrefix(dnsSubdomainProblems), 60],
      ['dns1035LabelPrefix', asPrefix(dns1035), 30],
      ['labelValue', labelValueProblems, 40],
      ['uri', isUri, 600],
      ['uuid', matching(UUID, 'does not match the UUID format'), 80],
      ['byte', matching(BASE64, 'invalid base64'), 84],
      ['date', isDate, 90],
      ['datetime', isDateTime, 90],
    ] as const
  ).map(([name, check, size]) => [name, new Format(name, check, size)]),
);

const LONGEST_NAME_REGEX = 128;

const VALIDATE_COST: CallCost = {
  estimate: ([, text]) => ({
    cost: scaled(scaled(text?.size ?? exactly(0), STRING_FACTOR), LONGEST_NAME_REGEX * REGEX_FACTOR),
  }),
  actual: ([format, text]) =>
    times(
      scaled(plus(exactly(sizeOfValue(text as CelValue)), exactly(1)), STRING_FACTOR),
      scaled(exactly((format as Format).regexSize), REGEX_FACTOR),
    ).max,
};

function validate(format: Format, text: string): CelValue {
  const problems = format.check(text);
  return new CelOptional(problems.length === 0 ? undefined : problems);
}

export const NAMED_FORMATS: readonly Overload[] = [
  ...[...FORMATS].map(([name, format]) => overload(`format:${name}(): Format`, () => format)),
  overload(
    'format:named(string): optional<Format>',
    ([name]) => new CelOptional(FORMATS.get(name as string)),
  ),
  overload(
    'Format.validate(string): optional<list<string>>',
    ([format, text]) => validate(format as Format, text as string),
    VALIDATE_COST,
  ),
];
