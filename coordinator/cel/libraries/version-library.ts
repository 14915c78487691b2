/** Semantic versions (k8s.io/apiserver pkg/cel/library/semverlib.go). */
import { CelError } from '../language/cel-error.js';
import type { CelOpaque, CelValue } from '../language/cel-value.js';
import { type Overload, overload, traversalOf } from '../language/overload.js';

class Version implements CelOpaque {
  readonly opaque = 'kubernetes.Semver';
  constructor(
    readonly numbers: readonly bigint[],
    readonly release: readonly string[],
    readonly build: string,
  ) {}

  get equalityKey(): string {
    return `${this.numbers.join('.')}-${this.release.join('.')}`;
  }
}

const NUMBER = '0|[1-9]\\d*';
const IDENTIFIER = `(?:${NUMBER}|\\d*[A-Za-z-][\\dA-Za-z-]*)`;
const VERSION = new RegExp(
  `^(${NUMBER})\\.(${NUMBER})\\.(${NUMBER})(?:-(${IDENTIFIER}(?:\\.${IDENTIFIER})*))?(?:\\+([\\dA-Za-z-]+(?:\\.[\\dA-Za-z-]+)*))?$`,
);

function parseVersion(text: string, lenient: boolean): Version | undefined {
  const match = VERSION.exec(lenient ? normalized(text) : text);
  if (!match) return undefined;
  const [, major = '', minor = '', patch = '', release, build = ''] = match;
  return new Version([major, minor, patch].map(BigInt), release?.split('.') ?? [], build);
}

/** Drops a leading `v` and leading zeros, and adds missing numbers. */
function normalized(text: string): string {
  const parts = text.replace(/^v/, '').split(/\.(.*)/s, 2);
  const [minor = '', rest] = (parts[1] ?? '').split(/\.(.*)/s, 2);
  const numbers = [
    parts[0] ?? '',
    ...(parts[1] === undefined ? [] : [minor]),
    ...(rest === undefined ? [] : [rest]),
  ];
  if (numbers.length < 3 && /[+-]/.test(numbers.at(-1) ?? '')) return '';
  while (numbers.length < 3) numbers.push('0');
  return numbers.map((number) => number.replace(/^0+(?=\d)/, '')).join('.');
}

function versionOf(text: CelValue | undefined, lenient: boolean): Version {
  const version = parseVersion(text as string, lenient);
  if (version) return version;
  throw new CelError(`invalid semantic version ${JSON.stringify(text)}`);
}

/** A release is newer than its pre-releases. Numeric identifiers are older than texts. */
function compareVersions(a: Version, b: Version): number {
  for (const [at, number] of a.numbers.entries()) {
    const other = b.numbers[at] ?? 0n;
    if (number !== other) return number < other ? -1 : 1;
  }
  if (a.release.length === 0 || b.release.length === 0) return Math.sign(b.release.length - a.release.length);
  for (const [at, part] of a.release.entries()) {
    const order = compareIdentifiers(part, b.release[at]);
    if (order !== 0) return order;
  }
  return a.release.length < b.release.length ? -1 : 0;
}

function compareIdentifiers(a: string, b: string | undefined): number {
  if (b === undefined) return 1;
  if (a === b) return 0;
  const [left, right] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (left && right) return BigInt(a) < BigInt(b) ? -1 : 1;
  if (left !== right) return left ? -1 : 1;
  return a < b ? -1 : 1;
}

const compared = ([a, b]: readonly CelValue[]): number => compareVersions(a as Version, b as Version);

export const VERSIONS: readonly Overload[] = [
  overload('semver(string): Semver', ([text]) => versionOf(text, false), traversalOf(0)),
  overload(
    'semver(string, bool): Semver',
    ([text, lenient]) => versionOf(text, lenient === true),
    traversalOf(0),
  ),
  overload(
    'isSemver(string): bool',
    ([text]) => parseVersion(text as string, false) !== undefined,
    traversalOf(0),
  ),
  overload(
    'isSemver(string, bool): bool',
    ([text, lenient]) => parseVersion(text as string, lenient === true) !== undefined,
    traversalOf(0),
  ),
  overload('Semver.isGreaterThan(Semver): bool', (args) => compared(args) > 0),
  overload('Semver.isLessThan(Semver): bool', (args) => compared(args) < 0),
  overload('Semver.compareTo(Semver): int', (args) => BigInt(compared(args))),
  ...['major', 'minor', 'patch'].map((name, at) =>
    overload(`Semver.${name}(): int`, ([version]) => (version as Version).numbers[at] ?? 0n),
  ),
];
