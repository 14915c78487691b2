/** Completion of `everynode` in real shells, and `everynode` as a plugin of a real kubectl. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { findKubectl } from '../../harness/clients/kubectl.js';

const PROGRAM = resolve(fileURLToPath(import.meta.url), '../../../../coordinator/cli/everynode.js');
const FOLDER = temporaryDirectory();
for (const name of ['everynode', 'kubectl-everynode']) symlinkSync(PROGRAM, join(FOLDER, name));
const env = { ...process.env, PATH: `${FOLDER}:${process.env.PATH ?? ''}` };

function run(program: string, ...args: string[]): string {
  return execFileSync(program, args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

/** Debian's packages install these. Without them the test is left out by name. */
const NEEDED = {
  bash: '/usr/share/bash-completion/bash_completion',
  fish: '/usr/bin/fish',
  zsh: '/usr/bin/zsh',
};

/** Returns false, and names the test in the summary, if the shell is not installed. */
function hasShell(context: TestContext, shell: keyof typeof NEEDED): boolean {
  const isInstalled = existsSync(NEEDED[shell]);
  if (!isInstalled) leaveOut(context, `completion in ${shell}`, `${NEEDED[shell]} is not installed`);
  return isInstalled;
}

/** Fills what bash sets when a user presses Tab, and prints the offered words. */
function bashScript(line: string): string {
  const words = line.split(' ');
  return `
    source /usr/share/bash-completion/bash_completion
    source <(everynode completion bash)
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}) COMP_CWORD=${words.length - 1}
    COMP_LINE='${line}' COMP_POINT=${line.length}
    __everynode_complete
    printf '%s\\n' "\${COMPREPLY[@]}"`;
}

describe('shell completion', () => {
  const TABLE: [line: string, offered: string][] = [
    ['everynode rollout pa', 'pause'],
    ['everynode coord', 'coordinator'],
    ['everynode plan --file', '--filename'],
  ];
  for (const [line, offered] of TABLE) {
    test(`bash completes "${line}" to ${offered}`, (context) => {
      if (!hasShell(context, 'bash')) return;
      assert.deepEqual(run('bash', '--norc', '-c', bashScript(line)).trim().split('\n'), [offered]);
    });

    test(`fish completes "${line}" to ${offered}`, (context) => {
      if (!hasShell(context, 'fish')) return;
      const script = `everynode completion fish | source; complete -C"${line}"`;
      const offers = run('fish', '--no-config', '-c', script).trim().split('\n');
      assert.deepEqual(
        offers.map((offer) => offer.split('\t')[0]),
        [offered],
      );
    });
  }

  test('zsh accepts the script', (context) => {
    if (!hasShell(context, 'zsh')) return;
    run('zsh', '-f', '-c', 'autoload -U compinit; compinit -D; source <(everynode completion zsh)');
  });
});

describe('the plugin of kubectl', () => {
  test('kubectl everynode runs the program', () => {
    assert.match(run(findKubectl(), 'everynode', 'version'), /^everynode \d+\.\d+\.\d+ /);
  });
});
