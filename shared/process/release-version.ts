/** Release versions: the version of this program, validation and order. A version becomes part of a path, so the syntax is strict. */

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Semantic versioning without build metadata, in lower case: https://semver.org. */
const NUMBER = '(?:0|[1-9][0-9]{0,8})';
const IDENTIFIER = '(?:0|[1-9][0-9]{0,8}|[0-9]{0,8}[a-z][0-9a-z]{0,15})';
const PATTERN = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${IDENTIFIER}(?:\\.${IDENTIFIER}){0,3})?$`);

/** Returns true for `1.2.3` and `1.2.3-rc.1`. Returns false for any text that could be a path traversal. */
export function isReleaseVersion(text: string): boolean {
  return PATTERN.test(text);
}

/** Returns a negative number if `one` is older, 0 if they are equal. A pre-release precedes its release. */
export function compareVersions(one: string, other: string): number {
  const [core = '', suffix] = split(one);
  const [otherCore = '', otherSuffix] = split(other);
  const byCore = compareIdentifiers(core, otherCore);
  if (byCore !== 0 || suffix === otherSuffix) return byCore;
  if (suffix === undefined) return 1;
  return otherSuffix === undefined ? -1 : compareIdentifiers(suffix, otherSuffix);
}

function split(version: string): [string, string?] {
  const at = version.indexOf('-');
  return at < 0 ? [version] : [version.slice(0, at), version.slice(at + 1)];
}

/** Compares dot-separated identifiers like semver: numbers before words. A prefix is older. */
function compareIdentifiers(one: string, other: string): number {
  const [left, right] = [one.split('.'), other.split('.')];
  for (const [index, a] of left.entries()) {
    const b = right[index];
    if (b === undefined) return 1;
    if (a === b) continue;
    const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
    if (isNumber && isOtherNumber) return Number(a) - Number(b);
    if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
    return a < b ? -1 : 1;
  }
  return left.length - right.length;
}

/** Set by the bundler, because a bundled program has no package.json. */
declare const EVERYNODE_BUNDLE_VERSION: string | undefined;

/** True if the program is one bundled file. */
export const IS_BUNDLE: boolean = typeof EVERYNODE_BUNDLE_VERSION === 'string';

/** Reads package.json, which is above dist/ in a clone and in an installed package. */
function packageVersion(): string {
  const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}

/** The version of both programs, which are released together. */
export const VERSION: string =
  typeof EVERYNODE_BUNDLE_VERSION === 'string' ? EVERYNODE_BUNDLE_VERSION : packageVersion();
