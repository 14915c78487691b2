/** Copies programs of this machine's Debian into a test host, which has no network to install them from. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestHost } from '../harness/hosts/test-hosts.js';

/** Debian's rpm with the libraries that a test host lacks. */
export const RPM_TOOLS = [
  'rpm',
  'rpm-common',
  'librpm9',
  'librpmio9',
  'liblua5.3-0',
  'libpopt0',
  'libsqlite3-0',
];

/** Copies all files of the packages that are installed here. */
export function copyDebianTools(host: TestHost, packages: readonly string[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'everynode-tools-'));
  const archive = join(folder, 'tools.tar');
  try {
    const list = packages.map((name) => `dpkg -L ${name} 2>/dev/null`).join('; ');
    const files = `{ ${list}; } | sort -u | while read -r path; do [ -d "$path" ] || echo "$path"; done`;
    execFileSync(
      'sh',
      ['-c', `${files} | tar --create --no-recursion --files-from - --file "$1"`, 'sh', archive],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    host.copyIn(archive, '/root/tools.tar');
    host.run('tar', '-xf', '/root/tools.tar', '-C', '/', '--keep-directory-symlink');
    host.run('rm', '/root/tools.tar');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
