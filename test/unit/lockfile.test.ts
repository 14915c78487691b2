/** npm installs the packages that were tested: `package-lock.json` has a hash for each of them, so a registry cannot substitute another. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

interface LockedPackage {
  integrity?: string;
  link?: boolean;
  inBundle?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
}

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Record<string, LockedPackage>;
};
const entries = Object.entries(packages).filter(([path, { link, inBundle }]) => path && !link && !inBundle);

/** False for optional packages that npm never installs on Linux with glibc on x64 or arm64, the platforms of the releases. */
function isInstallable({ optional, os, cpu, libc }: LockedPackage): boolean {
  const fits = (allowed: string[] | undefined, ...ours: string[]) =>
    allowed === undefined || ours.some((each) => allowed.includes(each));
  return !optional || (fits(os, 'linux') && fits(cpu, 'x64', 'arm64') && fits(libc, 'glibc'));
}

test('every package that npm installs on the platforms of the releases has a hash', () => {
  const without = entries.filter(([, entry]) => isInstallable(entry) && !entry.integrity);
  assert.deepEqual(
    without.map(([path]) => path),
    [],
  );
});

test('every hash is SHA-512', () => {
  const others = entries.filter(
    ([, { integrity }]) => integrity && !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity),
  );
  assert.deepEqual(
    others.map(([path]) => path),
    [],
  );
});
