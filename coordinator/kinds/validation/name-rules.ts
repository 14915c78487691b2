/**
 * Syntax rules for names, labels and keys, with upstream's messages (k8s.io/apimachinery
 * pkg/util/validation/validation.go). Each function returns the problems of a text; [] means valid.
 */

function regexError(explanation: string, form: string, ...examples: string[]): string {
  if (examples.length === 0) return `${explanation} (regex used for validation is '${form}')`;
  const list = examples.map((example) => `'${example}'`).join(' or ');
  return `${explanation} (e.g. ${list}, regex used for validation is '${form}')`;
}

function maxLengthError(length: number): string {
  return `must be no more than ${length} characters`;
}

const EMPTY_ERROR = 'must be non-empty';
const LABEL_FORM = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN_FORM = `${LABEL_FORM}(\\.${LABEL_FORM})*`;
const UNDERSCORE_LABEL_FORM = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const UNDERSCORE_SUBDOMAIN_FORM = `${UNDERSCORE_LABEL_FORM}(\\.${UNDERSCORE_LABEL_FORM})*`;
const QUALIFIED_FORM = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE_FORM = `(${QUALIFIED_FORM})?`;
const CONFIG_KEY_FORM = '[-._a-zA-Z0-9]+';
const PERCENT_FORM = '[0-9]+%';

const LABEL = new RegExp(`^${LABEL_FORM}$`);
const SUBDOMAIN = new RegExp(`^${SUBDOMAIN_FORM}$`);
const UNDERSCORE_SUBDOMAIN = new RegExp(`^${UNDERSCORE_SUBDOMAIN_FORM}$`);
const QUALIFIED = new RegExp(`^${QUALIFIED_FORM}$`);
const LABEL_VALUE = new RegExp(`^${LABEL_VALUE_FORM}$`);
const CONFIG_KEY = new RegExp(`^${CONFIG_KEY_FORM}$`);
const PERCENT = new RegExp(`^${PERCENT_FORM}$`);

const LABEL_ERROR = regexError(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  LABEL_FORM,
  'my-name',
  '123-abc',
);
const SUBDOMAIN_ERROR = regexError(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  SUBDOMAIN_FORM,
  'example.com',
);
const UNDERSCORE_SUBDOMAIN_ERROR = regexError(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  UNDERSCORE_SUBDOMAIN_FORM,
  'example.com',
);
const QUALIFIED_ERROR = regexError(
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  QUALIFIED_FORM,
  'MyName',
  'my.name',
  '123-abc',
);
const LABEL_VALUE_ERROR = regexError(
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  LABEL_VALUE_FORM,
  'MyValue',
  'my_value',
  '12345',
);
const ENV_ERROR =
  "a valid environment variable name must consist only of printable ASCII characters other than '='";
const CONFIG_KEY_ERROR = regexError(
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  CONFIG_KEY_FORM,
  'key.name',
  'KEY_NAME',
  'key-name',
);
const PERCENT_ERROR = regexError(
  "a valid percent string must be a numeric string followed by an ending '%'",
  PERCENT_FORM,
  '1%',
  '93%',
);

function check(text: string, maxLength: number, form: RegExp, explanation: string): string[] {
  const problems: string[] = [];
  if (text.length > maxLength) problems.push(maxLengthError(maxLength));
  if (!form.test(text)) problems.push(explanation);
  return problems;
}

/** RFC 1123 label: at most 63 characters of a-z, 0-9 and '-'. */
export function dnsLabelProblems(text: string): string[] {
  return check(text, 63, LABEL, LABEL_ERROR);
}

/** RFC 1123 subdomain: dotted labels, at most 253 characters. */
export function dnsSubdomainProblems(text: string): string[] {
  return check(text, 253, SUBDOMAIN, SUBDOMAIN_ERROR);
}

/** A search domain: a subdomain whose labels may contain underscores, also as their first character. */
export function searchDomainProblems(text: string): string[] {
  return check(text, 253, UNDERSCORE_SUBDOMAIN, UNDERSCORE_SUBDOMAIN_ERROR);
}

/** `[prefix/]name`: keys of labels, annotations, taints and extended resources. */
export function qualifiedNameProblems(text: string): string[] {
  const parts = text.split('/');
  const name = parts.length === 2 ? (parts[1] ?? '') : text;
  if (parts.length > 2) {
    const form = regexError(
      "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      QUALIFIED_FORM,
      'MyName',
      'my.name',
      '123-abc',
    );
    return [`${form} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const problems: string[] = [];
  if (parts.length === 2) problems.push(...prefixProblems(parts[0] ?? ''));
  if (name === '') return [...problems, `name part ${EMPTY_ERROR}`, `name part ${QUALIFIED_ERROR}`];
  return [...problems, ...check(name, 63, QUALIFIED, QUALIFIED_ERROR).map((text) => `name part ${text}`)];
}

function prefixProblems(prefix: string): string[] {
  if (prefix === '') return [`prefix part ${EMPTY_ERROR}`];
  return dnsSubdomainProblems(prefix).map((text) => `prefix part ${text}`);
}

/** A label's value: empty, or at most 63 characters beginning and ending with a letter or digit. */
export function labelValueProblems(text: string): string[] {
  return check(text, 63, LABEL_VALUE, LABEL_VALUE_ERROR);
}

/** The name of an environment variable: any printable ASCII but '=' (upstream since 1.34). */
export function envNameProblems(text: string): string[] {
  if (text === '') return [`environment variable name ${EMPTY_ERROR}`];
  return /^[\x20-\x3c\x3e-\x7e]+$/.test(text) ? [] : [ENV_ERROR];
}

/** A key of a ConfigMap or Secret. It is also a file name, so '.' and names that begin with '..' are invalid. */
export function configMapKeyProblems(text: string): string[] {
  return [...check(text, 253, CONFIG_KEY, CONFIG_KEY_ERROR), ...dotProblems(text)];
}

function dotProblems(text: string): string[] {
  if (text === '.') return ["must not be '.'"];
  if (text === '..') return ["must not be '..'"];
  return text.startsWith('..') ? ["must not start with '..'"] : [];
}

/** `25%` */
export function percentProblems(text: string): string[] {
  return PERCENT.test(text) ? [] : [PERCENT_ERROR];
}

/** The name of a port (IANA service name): at most 15 of a-z, 0-9 and single inner '-', with a letter. */
export function portNameProblems(text: string): string[] {
  const problems: string[] = [];
  if (text.length > 15) problems.push(maxLengthError(15));
  if (!/^[-a-z0-9]+$/.test(text)) {
    problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(text)) problems.push('must contain at least one letter (a-z)');
  if (text.includes('--')) problems.push('must not contain consecutive hyphens');
  if (/^-|-$/.test(text)) problems.push('must not begin or end with a hyphen');
  return problems;
}

/** A port number, 1 to 65535. */
export function portNumberProblems(port: number): string[] {
  return port >= 1 && port <= 65_535 ? [] : ['must be between 1 and 65535, inclusive'];
}

/** One segment of a URL: no '/', no '%', not '.' or '..'. */
export function pathSegmentProblems(text: string): string[] {
  if (text === '.' || text === '..') return [`may not be '${text}'`];
  return ['/', '%'].filter((sign) => text.includes(sign)).map((sign) => `may not contain '${sign}'`);
}
