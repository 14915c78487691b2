/** The sandbox program is the output of its assembly, and its image is reproducible. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sandboxImage } from '../../../agent/runtime/sandbox/sandbox-image.js';
import { SANDBOX_PROGRAMS } from '../../../agent/runtime/sandbox/sandbox-program.js';
import { tarArchive } from '../../../agent/runtime/sandbox/tar-archive.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';

const BUILD = join(dirname(fileURLToPath(import.meta.url)), '../../../agent/runtime/sandbox/build.sh');

for (const [architecture, tools] of [
  ['amd64', 'x86_64-linux-gnu'],
  ['arm64', 'aarch64-linux-gnu'],
] as const) {
  test(`the sandbox program for ${architecture} is the output of its assembly`, (context) => {
    if (!existsSync(`/usr/bin/${tools}-as`)) {
      return leaveOut(context, `assembling the sandbox for ${architecture}`, `needs binutils-${tools}`);
    }
    const built = execFileSync(BUILD, [architecture], { encoding: 'utf8' }).trim();
    assert.equal(SANDBOX_PROGRAMS[architecture], built);
  });
}

test("the kernel's and Go's name of an architecture select the same image", () => {
  assert.equal(sandboxImage('x86_64').name, sandboxImage('amd64').name);
  assert.notEqual(sandboxImage('aarch64').name, sandboxImage('amd64').name);
  assert.deepEqual(sandboxImage('arm64').archive, sandboxImage('aarch64').archive);
});

test('an architecture without a sandbox program is rejected by name', () => {
  assert.throws(() => sandboxImage('riscv64'), { message: /riscv64/ });
});

test('an archive can be read by tar', () => {
  const archive = tarArchive([
    { path: 'a', bytes: Buffer.from('hello'), mode: 0o755 },
    { path: 'b/c', bytes: Buffer.alloc(512), mode: 0o644 },
  ]);
  const listed = execFileSync('tar', ['-tvf', '-'], { input: archive, encoding: 'utf8', env: { TZ: 'UTC' } });
  assert.match(listed, /-rwxr-xr-x 0\/0 +5 1970-01-01 00:00 a\n-rw-r--r-- 0\/0 +512 1970-01-01 00:00 b\/c\n/);
});
