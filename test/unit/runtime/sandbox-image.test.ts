/** The sandbox program is the output of its assembly, and its image is reproducible. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sandboxImage } from '../../../agent/runtime/sandbox/sandbox-image.js';
import { SANDBOX_PROGRAMS } from '../../../agent/runtime/sandbox/sandbox-program.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';

import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const BUILD = join(dirname(fileURLToPath(import.meta.url)), '../../../agent/runtime/sandbox/build.sh');

for (const [architecture, tools] of [
  ['amd64', 'x86_64-linux-gnu'],
  ['arm64', 'aarch64-linux-gnu'],
  ['arm', 'arm-linux-gnueabihf'],
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
  for (const processor of ['armv6l', 'armv7l'])
    assert.equal(sandboxImage(processor).name, sandboxImage('arm').name);
  assert.deepEqual(await sandboxImage('arm64').archive(), await sandboxImage('aarch64').archive());
});

test('an architecture without a sandbox program is rejected by name', () => {
  assert.throws(() => sandboxImage('riscv64'), { message: /riscv64/ });
});

test('the program for 32-bit ARM starts, waits, and exits with 0 on SIGTERM', async (context) => {
  if (!existsSync('/usr/bin/qemu-arm-static'))
    return leaveOut(context, 'the sandbox for 32-bit ARM', 'needs qemu-user-static');
  const program = join(temporaryDirectory(), 'sandbox');
  writeFileSync(program, Buffer.from(SANDBOX_PROGRAMS.arm ?? '', 'base64'), { mode: 0o755 });
  const child = spawn('/usr/bin/qemu-arm-static', ['-strace', program], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  let calls = '';
  for await (const chunk of child.stderr.iterator({ destroyOnReturn: false })) {
    calls += chunk;
    // The program has blocked SIGTERM.
    if (/rt_sigprocmask\(.* = 0/.test(calls)) break;
  }
  child.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
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
