/** npm installs the packages that were tested: `package-lock.json` has a hash for each of them, so a registry cannot substitute another. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

interface LockedPackage {
  integrity?: string;
  link?: boolean;
  inBundle?: boolean;
}

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Record<string, LockedPackage>;
};

test('every package in the lock file has a SHA-512 hash, for every platform', () => {
  const fetched = Object.entries(packages).filter(([path, { link, inBundle }]) => path && !link && !inBundle);
  const without = fetched.filter(
    ([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''),
  );
  assert.ok(fetched.length > 100);
  assert.deepEqual(
    without.map(([path]) => path),
    [],
  );
});
