/** The sandbox program is the output of its assembly, and its image is reproducible. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sandboxImage } from '../../../agent/runtime/sandbox/sandbox-image.js';
import { SANDBOX_PROGRAMS } from '../../../agent/runtime/sandbox/sandbox-program.js';
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

test("the kernel's name of an architecture and Go's mean the same image", async () => {
  assert.equal(sandboxImage('x86_64').name, sandboxImage('amd64').name);
  assert.notEqual(sandboxImage('aarch64').name, sandboxImage('amd64').name);
  assert.deepEqual(await sandboxImage('arm64').archive(), await sandboxImage('aarch64').archive());
});

test('an architecture without a sandbox program is rejected by name', () => {
  assert.throws(() => sandboxImage('riscv64'), { message: /riscv64/ });
});

test('tar lists the files of the archive, with a layer that contains the program', async () => {
  const archive = await sandboxImage('amd64').archive();
  const listed = execFileSync('tar', ['-tvf', '-'], { input: archive, encoding: 'utf8', env: { TZ: 'UTC' } });
  assert.match(listed, /^-rw-r--r-- 0\/0 +\d+ 1970-01-01 00:00 [0-9a-f]{64}\.json\n/);
  assert.match(listed, /-rw-r--r-- 0\/0 +\d+ 1970-01-01 00:00 manifest\.json\n$/);
  const layer = execFileSync('tar', ['-xOf', '-', 'layer.tar'], { input: archive });
  const files = execFileSync('tar', ['-tvf', '-'], { input: layer, encoding: 'utf8', env: { TZ: 'UTC' } });
  assert.match(files, /^-rwxr-xr-x 0\/0 +220 1970-01-01 00:00 sandbox\n$/);
});
