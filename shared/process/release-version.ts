/** Versions of releases: which texts are one, and which of two is the older. A version names a folder and a file, so nothing else may become one. */

/** Semantic versioning without build metadata, in lower case: https://semver.org. */
const NUMBER = '(?:0|[1-9][0-9]{0,8})';
const IDENTIFIER = '(?:0|[1-9][0-9]{0,8}|[0-9]{0,8}[a-z][0-9a-z]{0,15})';
const PATTERN = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${IDENTIFIER}(?:\\.${IDENTIFIER}){0,3})?$`);

/** True for `1.2.3` and `1.2.3-rc.1`; false for everything that could leave its folder. */
export function isReleaseVersion(text: string): boolean {
  return PATTERN.test(text);
}

/** Negative if `one` is older than `other`, 0 if they are equal. Both must be versions. A pre-release is older than its release. */
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

/** Numbers by value and before words, words by their letters; where one list is the beginning of the other, the shorter is older. */
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
