/** The agent's command starts every supported version of Node with the flags for small devices and without a warning. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SMALL_HEAP_FLAGS } from '../../../shared/process/service/child-program.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../../../..');
const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const COMMAND = join(ROOT, bin['everynode-agent']);
const EVERYNODE = join(ROOT, bin.everynode);

/** Returns the arguments that the command passes to a Node of this version. */
function startedBy(version: string): string[] {
  const node = join(temporaryDirectory(), 'node');
  const text = `#!/bin/sh\n[ "$1" = --version ] && { echo ${version}; exit; }\nprintf '%s\\n' "$@"\n`;
  writeFileSync(node, text, { mode: 0o755 });
  const env = { ...process.env, EVERYNODE_NODE: node };
  return spawnSync(COMMAND, ['--data', 'a b'], { encoding: 'utf8', env }).stdout.split('\n');
}

describe('the everynode-agent command', () => {
  test('prints no warning when it runs through the link that npm creates', () => {
    const link = join(temporaryDirectory(), 'everynode-agent');
    symlinkSync(COMMAND, link);
    const { status, stdout, stderr } = spawnSync(link, ['--version'], { encoding: 'utf8' });
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /^\d+\.\d+\.\d+/);
  });

  for (const [version, flags] of [
    ['v20.20.2', ['--no-expose-wasm']],
    ['v22.23.3', ['--no-expose-wasm']],
    ['v23.11.0', ['--no-expose-wasm']],
    ['v24.0.0', []],
    ['v30.1.0', []],
  ] as const) {
    test(`passes the same Node flags as an agent that a coordinator starts, under Node ${version}`, () => {
      const common = SMALL_HEAP_FLAGS.filter((flag) => flag !== '--no-expose-wasm');
      const program = join(ROOT, 'dist/agent/everynode-agent.cjs');
      assert.deepEqual(startedBy(version), [...flags, ...common, program, '--data', 'a b', '']);
    });
  }

  test('is what an installed service starts, so that an upgrade of Node does not stop the agent', () => {
    const folder = temporaryDirectory();
    const versions = JSON.stringify(join(ROOT, 'dist/agent/install/installed-versions.js'));
    const install = `import { InstalledVersions } from ${versions}; new InstalledVersions(${JSON.stringify(folder)}).installSelf('1.2.3');`;
    const program = join(ROOT, 'dist/agent/everynode-agent.cjs');
    const installed = spawnSync(process.execPath, ['--input-type=module', '-e', install, program]);
    assert.equal(installed.status, 0, String(installed.stderr));
    const command = join(folder, '1.2.3', 'everynode-agent');
    const { status, stderr } = spawnSync(command, ['--version'], { encoding: 'utf8' });
    assert.deepEqual([status, stderr], [0, '']);
    assert.doesNotMatch(readFileSync(command, 'utf8'), /--[a-z]/, 'flags of the Node of that day');
  });

  test('starts a simulation on this Node, like the everynode command', () => {
    const env = { ...process.env, EVERYNODE_TOKEN: `abcdef.${'0'.repeat(16)}.${'0'.repeat(64)}` };
    for (const command of [COMMAND, EVERYNODE]) {
      // No program listens on this port. The simulation reports that after it has loaded everything.
      const args = ['simulate', '--server', 'https://127.0.0.1:1', '--nodes', '1'];
      const { stderr } = spawnSync(command, args, { encoding: 'utf8', env });
      assert.match(stderr, /^The coordinator at https:\/\/127\.0\.0\.1:1 cannot be reached/m);
    }
  });

  test('exits with the exit code of the agent', () => {
    const { status, stderr } = spawnSync(COMMAND, ['--no-such-flag'], { encoding: 'utf8' });
    assert.deepEqual([status, stderr], [2, "Unknown option '--no-such-flag'.\n"]);
  });
});
