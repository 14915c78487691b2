/** The agent's version as a container: its states over restarts and a trial. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { InstalledVersions } from '../../../agent/install/installed-versions.js';
import { type ContainerConfig, RuntimeError } from '../../../agent/runtime/runtime-driver.js';
import { rollBackUpgrade } from '../../../agent/upgrade/agent-upgrades.js';
import { AgentVersionContainers, agentVersionOf } from '../../../agent/upgrade/agent-version-containers.js';
import { sumOf } from '../../../agent/upgrade/release-source.js';
import { trialVerdictAtStart, UpgradeTrialFile } from '../../../agent/upgrade/upgrade-trial.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';

const config = (version: string, podNamespace = 'kube-system', attempt = 0): ContainerConfig =>
  ({
    identity: { podUid: 'uid', podNamespace, podName: 'pod', container: 'agent', attempt },
    image: `everynode.dev/agent:${version}`,
    labels: { a: 'b' },
  }) as unknown as ContainerConfig;

/** A host with both versions on disk. `runs` is the running process. */
function host() {
  const directory = temporaryDirectory();
  const versions = new InstalledVersions(directory);
  for (const version of ['0.1.0', '0.2.0']) {
    mkdirSync(join(directory, version));
    writeFileSync(versions.program(version), version);
  }
  versions.activate('0.1.0');
  const trial = new UpgradeTrialFile(join(directory, 'trial.json'));
  const said: string[] = [];
  /** The coordinator's minimum version. */
  const floor = { version: '0.0.0' };
  const runs = (version: string, why?: string, newId = 'one-id') =>
    new AgentVersionContainers({
      path: join(directory, 'containers.json'),
      version,
      versions,
      trial,
      source: {
        fetch: () => assert.fail('both versions are on the disk'),
        requireAllowed: async (wanted) => {
          if (wanted >= floor.version) return;
          throw new RuntimeError('RunContainerError', `older than ${floor.version}`, false);
        },
      },
      whyNotUpgradable: () => why,
      checkProgram: async (program) => {
        if (program.includes('broken')) throw new Error(program);
        said.push('tried');
      },
      guardTrial: async (program) => void said.push(`guarded by ${program.split('/').at(-2)}`),
      restart: () => void said.push('restart'),
      pause: async () => undefined,
      newId: () => newId,
      now: () => 1000,
      clockOffsetMs: () => 5,
    });
  return { versions, trial, said, runs, floor };
}

const statesOf = (agents: AgentVersionContainers) =>
  agents.list().map(({ state, exitCode, error }) => [state, exitCode, error]);

test("only images of the agent's repository are versions, and only versions are accepted", () => {
  assert.equal(agentVersionOf('everynode.dev/agent:0.2.0'), '0.2.0');
  assert.equal(agentVersionOf('docker.io/library/app:1'), undefined);
  assert.equal(agentVersionOf('everynode.dev/agent-like:1'), undefined);
  for (const bad of ['latest', '../../etc', '1.0.0;reboot', '', '$(x)']) {
    assert.throws(() => agentVersionOf(`everynode.dev/agent:${bad}`), RuntimeError);
  }
});

test('the container of the version that runs is running as soon as it is started', async () => {
  const { runs, said } = host();
  const agents = runs('0.1.0');
  const id = await agents.create(config('0.1.0'), '0.1.0');
  assert.deepEqual(statesOf(agents), [['created', undefined, undefined]]);
  await agents.start(id);
  assert.deepEqual(statesOf(agents), [['running', undefined, undefined]]);
  assert.equal(agents.list()[0]?.startedAt, 1005);
  assert.deepEqual(said, []);
  assert.deepEqual(statesOf(runs('0.1.0')), [['running', undefined, undefined]], 'after a restart');
});

test('another version is downloaded, checked, put on trial and activated, and only then reported as running', async () => {
  const { runs, said, trial, versions } = host();
  const agents = runs('0.1.0');
  const id = await agents.create(config('0.2.0'), '0.2.0');
  await agents.start(id);
  assert.deepEqual(said, ['tried', 'guarded by 0.1.0', 'restart']);
  assert.deepEqual(statesOf(agents), [['created', undefined, undefined]], 'the old one tells no lie');
  await agents.start(id);
  assert.equal(said.length, 3, 'no second restart');
  assert.deepEqual([versions.current, versions.previous], ['0.2.0', '0.1.0']);
  assert.deepEqual(trial.read(), { id, from: '0.1.0', to: '0.2.0', starts: 0 });
  assert.deepEqual(statesOf(runs('0.2.0')), [['running', undefined, undefined]]);
});

test('the previous version reports after its return that the new one has failed', async () => {
  const { runs, trial, versions } = host();
  const agents = runs('0.1.0');
  await agents.start(await agents.create(config('0.2.0'), '0.2.0'));
  assert.equal(rollBackUpgrade(versions, trial), '0.1.0');
  assert.deepEqual(
    [versions.current, versions.previous],
    ['0.1.0', '0.1.0'],
    'recovery does not start a version that failed',
  );
  assert.equal(trial.read(), undefined);
  assert.equal(rollBackUpgrade(versions, trial), undefined, 'once');
  const error = 'agent 0.2.0 did not reach the coordinator; rolled back to 0.1.0';
  assert.deepEqual(statesOf(runs('0.1.0')), [['exited', 1, error]]);
});

test('a Pod tries a version once, whatever tries are left; another Pod may try it again', async () => {
  const { runs, trial, versions, said } = host();
  const before = runs('0.1.0');
  await before.start(await before.create(config('0.2.0'), '0.2.0'));
  rollBackUpgrade(versions, trial);
  said.length = 0;
  let id = 'one-id';
  for (const attempt of [1, 2, 3]) {
    const agents = runs('0.1.0', undefined, `id-${attempt}`);
    const next = await agents.create(config('0.2.0', 'kube-system', attempt), '0.2.0');
    await agents.remove(id);
    await assert.rejects(agents.start(next), {
      reason: 'RunContainerError',
      message: /has failed on this host/,
    });
    id = next;
  }
  assert.deepEqual([said, versions.current], [[], '0.1.0']);
  const agents = runs('0.1.0', undefined, 'of-another');
  const other = config('0.2.0');
  await agents.start(
    await agents.create({ ...other, identity: { ...other.identity, podUid: 'other' } }, '0.2.0'),
  );
  assert.equal(versions.current, '0.2.0');
});

test('stopping and removing the version container does not end the agent', async () => {
  const { runs, said, versions } = host();
  const agents = runs('0.1.0');
  const id = await agents.create(config('0.1.0'), '0.1.0');
  await agents.start(id);
  await agents.stop(id);
  assert.deepEqual(statesOf(agents), [['exited', 0, undefined]]);
  await agents.remove(id);
  assert.deepEqual(agents.list(), []);
  assert.deepEqual([said, versions.current], [[], '0.1.0']);
});

test('an operation that is not allowed is rejected and changes nothing', async () => {
  const { runs, versions, said } = host();
  const agents = runs('0.1.0', 'not installed');
  await assert.rejects(agents.create(config('0.2.0', 'default'), '0.2.0'), /kube-system/);
  const id = await agents.create(config('0.2.0'), '0.2.0');
  await assert.rejects(agents.create(config('0.2.0'), '0.2.0'), { reason: 'Conflict' });
  await assert.rejects(agents.start(id), /not installed/);
  assert.deepEqual([versions.current, said], ['0.1.0', []]);
});

test('a version below the coordinator’s minimum is not started, though it is on the disk', async () => {
  const { runs, versions, said, floor } = host();
  versions.activate('0.2.0');
  floor.version = '0.2.0';
  const agents = runs('0.2.0');
  const id = await agents.create(config('0.1.0'), '0.1.0');
  await assert.rejects(agents.start(id), { reason: 'RunContainerError', message: /older than 0\.2\.0/ });
  assert.deepEqual([versions.current, said], ['0.2.0', []]);
});

test('a version on trial has three starts', () => {
  const trial = { id: 'x', from: '0.1.0', to: '0.2.0', starts: 0 };
  assert.equal(trialVerdictAtStart(undefined, '0.2.0'), 'none');
  assert.equal(trialVerdictAtStart(trial, '0.1.0'), 'none');
  assert.equal(trialVerdictAtStart(trial, '0.2.0'), 'try');
  assert.equal(trialVerdictAtStart({ ...trial, starts: 3 }, '0.2.0'), 'fall back');
});

test('a checksum is found by the complete name of its file', () => {
  const sum = 'a'.repeat(64);
  assert.equal(sumOf(`${sum}  agent-1.gz\n`, 'agent-1.gz'), sum);
  assert.equal(sumOf(`${sum}  agent-1.gz\n`, 'agent-1'), undefined);
  assert.equal(sumOf(`${sum} agent-1.gz\n`, 'agent-1.gz'), undefined);
});

test('a damaged trial file counts as no trial', () => {
  const path = join(temporaryDirectory(), 'trial.json');
  writeFileSync(path, '{"id":');
  assert.equal(new UpgradeTrialFile(path).read(), undefined);
  new UpgradeTrialFile(path).remove();
  assert.equal(existsSync(path), false);
});
