/** Validity and order of release versions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareVersions, isReleaseVersion } from '../../../shared/process/release-version.js';

const TEXTS: [string, boolean][] = [
  ['0.1.0', true],
  ['10.20.30-rc.1', true],
  ['1.2.3-0a', true],
  ['..', false],
  ['../../etc', false],
  ['0.1.0/..', false],
  ['1.0.0-../x', false],
  ['1.0.0-..', false],
  ['1.0.0-', false],
  ['01.0.0', false],
  ['1.0.0-01', false],
  ['1.0', false],
  ['1.0.0\n', false],
  ['1.0.0+build', false],
  [`1.0.${'9'.repeat(10)}`, false],
  ['', false],
];

for (const [text, is] of TEXTS) {
  test(`${JSON.stringify(text)} is ${is ? '' : 'not '}a version`, () =>
    assert.equal(isReleaseVersion(text), is));
}

test('versions are ordered as https://semver.org orders them', () => {
  const ordered = [
    '0.9.10',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0',
    '1.0.2',
    '1.0.10',
    '1.10.0',
    '2.0.0',
  ];
  for (const [index, one] of ordered.entries()) {
    for (const [otherIndex, other] of ordered.entries()) {
      assert.equal(
        Math.sign(compareVersions(one, other)),
        Math.sign(index - otherIndex),
        `${one} and ${other}`,
      );
    }
  }
});
