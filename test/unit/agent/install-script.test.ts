/** The install script passes the join token from the typed line to the agent without an argument. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { joinCommand } from '../../../shared/kube/access/join-command.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../../../..');
const SERVER = 'https://co.example:6443';
const TOKEN = 'abcdef.0123456789abcdef';
const HASH = 'a'.repeat(64);
const SHELLS = ['/bin/dash', '/bin/bash', '/bin/busybox'].filter((path) => existsSync(path));

/** A substitute for the agent. It prints its arguments, its input and the token in its environment. */
const AGENT = `#!/bin/sh
echo "arguments: $*"
case " $* " in *' --token-file - '*) echo "input: $(cat)" ;; esac
echo "environment: \${EVERYNODE_TOKEN-none}"
env | grep -i -E '^(https|no)_proxy=' | sort
true
`;

/** Runs the line in `shell` without curl and sudo. The script is the one of this tree. */
function typed(
  line: string,
  shell: string,
  storedProxy = '',
): { status: number | null; stdout: string; stderr: string } {
  const folder = temporaryDirectory();
  const file = join(folder, 'everynode-agent-1.2.3-linux-any.gz');
  writeFileSync(file, gzipSync(AGENT));
  const sum = createHash('sha256').update(readFileSync(file)).digest('hex');
  const names = ['amd64', 'arm64'].map((name) => `${sum}  everynode-agent-1.2.3-linux-${name}.gz`);
  const values: Record<string, string> = {
    SERVER,
    VERSION: '1.2.3',
    SUMS: [...names, `${sum}  everynode-agent-1.2.3-linux-any.gz`].join('\n'),
    RELEASE_KEY: 'key',
  };
  const script = readFileSync(join(ROOT, 'coordinator/api/join/install.sh'), 'utf8')
    .replace(/@([A-Z_]+)@/g, (_, name: string) => values[name] ?? '')
    .replace('"$(id -u)" = 0', '0 = 0')
    .replace('/run/systemd/system', folder)
    .replace('/etc/everynode/proxy.env', join(folder, 'proxy.env'))
    .replace('/var/lib/everynode-install', join(folder, 'install'));
  if (storedProxy) writeFileSync(join(folder, 'proxy.env'), storedProxy);
  writeFileSync(join(folder, 'install.sh'), script);
  const run = shell.endsWith('busybox') ? `${shell} sh` : shell;
  const here = line
    .replace(/curl .*?\/install\.sh/, `cat ${join(folder, 'install.sh')}`)
    .replace('sudo sh -s --', `${run} -s -- --file ${file}`);
  return spawnSync(shell, [...(shell.endsWith('busybox') ? ['sh'] : []), '-c', here], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  });
}

const LINE = joinCommand(
  {
    kind: 'JoinAddress',
    apiVersion: 'fleet.everynode.dev/v1',
    server: SERVER,
    authorityHash: HASH,
    installer: { path: '/install.sh', pin: 'cGlu' },
    approval: false,
  },
  TOKEN,
);

describe('the install line for a bare host', () => {
  test('contains the token once, where only the shell itself reads it', () => {
    assert.equal(
      LINE,
      `{ echo EVERYNODE_TOKEN=${TOKEN}.${HASH}; curl -fsSk --pinnedpubkey 'sha256//cGlu' ${SERVER}/install.sh; } | sudo sh -s --`,
    );
  });

  for (const shell of SHELLS) {
    test(`passes the token to the agent on standard input and settings as arguments, in ${shell}`, () => {
      const { status, stdout, stderr } = typed(`${LINE} --labels a=b`, shell);
      assert.equal(status, 0, stderr);
      const [given, input, environment] = stdout.split('\n');
      assert.match(
        given ?? '',
        /^arguments: install --server \S+ --release-key \S+ --labels a=b --token-file -$/,
      );
      assert.equal(input, `input: ${TOKEN}.${HASH}`);
      assert.equal(environment, 'environment: none');
    });

    test(`passes the proxy of the line to the agent, else that of an earlier installation, in ${shell}`, () => {
      const stored = "HTTPS_PROXY='http://old:$x@proxy:1/'\nNO_PROXY='.old'\n";
      const proxyOf = (variables: string) => {
        const { status, stdout, stderr } = typed(LINE.replace('curl', `${variables} curl`), shell, stored);
        assert.equal(status, 0, stderr);
        return stdout.split('\n').filter((each) => /proxy=/i.test(each));
      };
      const given = "HTTPS_PROXY='http://a:b%27c@proxy:3128'";
      assert.deepEqual(proxyOf(`echo "${given} NO_PROXY=.here";`), [
        'HTTPS_PROXY=http://a:b%27c@proxy:3128',
        'NO_PROXY=.here',
      ]);
      assert.deepEqual(proxyOf(''), ['HTTPS_PROXY=http://old:$x@proxy:1/', 'NO_PROXY=.old']);
      assert.deepEqual(proxyOf('echo NO_PROXY=.new;'), [
        'HTTPS_PROXY=http://old:$x@proxy:1/',
        'NO_PROXY=.new',
      ]);
      assert.deepEqual(proxyOf('echo HTTPS_PROXY=;'), ['HTTPS_PROXY=']);
    });

    test(`needs no token for a host that has joined, in ${shell}`, () => {
      const { status, stdout, stderr } = typed(LINE.replace(/echo [^;]+;/, ''), shell);
      assert.equal(status, 0, stderr);
      assert.match(stdout, /^arguments: install --server \S+ --release-key \S+\nenvironment: none\n$/);
    });
  }
});
