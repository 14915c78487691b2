/** `everynode down` as a user runs it, without a reachable engine. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const PROGRAM = fileURLToPath(new URL('../../../coordinator/cli/everynode.js', import.meta.url));

const IDENTITY = { format: 2, node: 'n', key: 'PEM', ca: 'PEM', clusterUID: 'u' };

function down(data: string) {
  return spawnSync(process.execPath, [PROGRAM, 'down', '--data', data, '--yes'], {
    encoding: 'utf8',
    env: { ...process.env, DOCKER_HOST: 'unix:///nowhere' },
  });
}

test('a directory of another program is left alone', () => {
  const data = temporaryDirectory();
  writeFileSync(join(data, 'thesis.txt'), 'years of work');
  const { status, stderr } = down(data);
  assert.equal(status, 2);
  assert.equal(stderr, `${data} is not a data directory of Everynode. Nothing was changed.\n`);
  assert.ok(existsSync(join(data, 'thesis.txt')));
});

test('an unreachable engine keeps the data that it would have to confirm', () => {
  const data = temporaryDirectory();
  mkdirSync(join(data, 'agent'));
  writeFileSync(join(data, 'everynode.db'), '');
  writeFileSync(join(data, 'agent', 'identity.json'), JSON.stringify(IDENTITY));
  const engine = { name: 'docker', version: '20', apiVersion: '1.41', address: { socketPath: '/nowhere' } };
  writeFileSync(join(data, 'agent', 'engine.json'), JSON.stringify(engine));
  const { status, stderr } = down(data);
  assert.equal(status, 3);
  assert.match(stderr, /^This host's containers cannot be removed: .*\.\n$/);
  assert.ok(existsSync(join(data, 'agent', 'engine.json')));
});
