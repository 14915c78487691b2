/** `up` and `down` as programs: what they keep, what they remove, and their error messages. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import { TourFixture } from '../../harness/hosts/tour-fixture.js';
import { runEverynode, startProgram } from '../../harness/processes/everynode-processes.js';
import { tour } from './documented-commands.js';

const MANIFEST = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: app}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec: {terminationGracePeriodSeconds: 5, containers: [{name: main, image: 'app:1'}]}
`;

describe('up and down on Docker', { concurrency: 1 }, () => {
  let fixture: TourFixture | string;
  let foreign: string[] = [];

  before(async () => {
    fixture = await TourFixture.open('docker', { images: ['app:1'], args: ['--labels', 'disk=ssd'] });
    if (typeof fixture === 'string') return;
    const { containers, kubectl } = fixture;
    // One container without labels and one of another cluster that uses the same engine.
    const another = { 'everynode.dev/cluster': 'another', 'everynode.dev/node': 'master' };
    foreign = [await containers.run('app:1'), await containers.run('app:1', another)];
    await kubectl.ok('apply -f -', MANIFEST);
    await kubectl.ok('rollout status ds/app --timeout=30s');
  });
  after(async () => {
    if (typeof fixture !== 'string') await fixture.close();
  });

  const law = (rule: string, body: (fixture: TourFixture) => Promise<void>): void => {
    test(rule, async (context) => {
      if (typeof fixture === 'string') leaveOut(context, 'up and down on docker', fixture);
      else await body(fixture);
    });
  };
  const ours = async ({ containers }: TourFixture) => {
    const [container, ...others] = await containers.ofPods('app-');
    assert.deepEqual(others, []);
    assert.equal(container?.state, 'running');
    return container;
  };

  law('labels given to up are set on the node', async ({ kubectl }) => {
    assert.match(await kubectl.ok('get nodes -l disk=ssd'), /master +Ready/);
  });

  law('a second up with the same data fails with one sentence', async ({ dataDir, port, environment }) => {
    const args = ['up', '--data', dataDir, '--port', String(port + 1), '--runtime', 'docker'];
    const { code, stderr } = await runEverynode(args, environment);
    assert.equal(code, 4);
    assert.match(stderr, /^[^\n]*(in use|another)[^\n]*\n$/i);
  });

  law(
    'Ctrl-C of up stops both programs and keeps the container, and the next up adopts it',
    async (fixture) => {
      const container = await ours(fixture);
      const started = await fixture.containers.startedAt(container.id);
      await fixture.up.end('SIGINT');
      assert.equal(fixture.up.exitStatus, 0);
      assert.deepEqual(fixture.agents(), []);
      assert.equal((await ours(fixture)).id, container.id);
      await fixture.startUp();
      assert.match(await fixture.kubectl.ok('get pods'), /app-\w{5} +1\/1 +Running +0/);
      assert.equal(await fixture.containers.startedAt((await ours(fixture)).id), started);
    },
  );

  law('up restarts a killed agent, and the agent exits when up is killed', async (fixture) => {
    const container = await ours(fixture);
    const [agent = 0] = fixture.agents();
    process.kill(agent, 'SIGKILL');
    await untilPasses(() => assert.ok(fixture.agents().some((pid) => pid !== agent)));
    await fixture.up.end('SIGKILL');
    await untilPasses(() => assert.deepEqual(fixture.agents(), []));
    assert.equal((await ours(fixture)).id, container.id);
    await fixture.startUp();
    assert.equal((await ours(fixture)).id, container.id);
  });

  law('down asks for confirmation and changes nothing without it', async (fixture) => {
    const { code, stderr } = await runEverynode(['down', '--data', fixture.dataDir], fixture.environment);
    assert.deepEqual([code, stderr], [2, 'There is no terminal for the confirmation: pass --yes.\n']);
    await ours(fixture);
  });

  law('a command that the coordinator refuses prints one sentence', async (fixture) => {
    const { code, stderr } = await runEverynode(['token', 'delete', 'nobody', '--data', fixture.dataDir]);
    assert.equal(code, 5);
    assert.equal(stderr, 'Error from server (NotFound): secrets "bootstrap-token-nobody" not found\n');
  });

  law('down keeps the data directory if the engine is down', async (fixture) => {
    await fixture.up.end('SIGINT');
    await fixture.engine.kill();
    const { code, stderr } = await runEverynode(['down', '--data', fixture.dataDir, '--yes']);
    await fixture.engine.start();
    assert.equal(code, 3, stderr);
    assert.match(stderr, /^[^\n]+does not respond[^\n]+\n$/);
    await fixture.startUp();
    await fixture.kubectl.ok('rollout status ds/app --timeout=30s');
    for (const id of foreign) await fixture.containers.start(id);
  });

  law(
    'down stops a running up, its containers and its data directory, and no other container',
    async (fixture) => {
      // Runs without the environment of `up`: the agent has stored where its containers are.
      const { code, stderr } = await runEverynode(['down', '--data', fixture.dataDir, '--yes']);
      assert.deepEqual([code, stderr], [0, '']);
      assert.equal(existsSync(fixture.dataDir), false);
      await untilPasses(() => assert.equal(fixture.up.running, false));
      const left = await fixture.containers.all();
      assert.deepEqual(
        left.map(({ id, state }) => [id, state]).sort(),
        foreign.map((id) => [id, 'running']).sort(),
      );
    },
  );

  law('down without an installation reports that nothing exists', async ({ dataDir }) => {
    const { code, stderr } = await runEverynode(['down', '--data', dataDir, '--yes']);
    assert.deepEqual([code, stderr], [3, `${dataDir} does not exist.\n`]);
  });
});

describe('error messages of up', () => {
  const upIn = (...args: string[]) => {
    const data = join(temporaryDirectory(), 'data');
    return runEverynode(['up', '--data', data, '--port', '0', '--runtime', 'hollow', ...args]);
  };

  test('up and down of a hollow host need no engine', async () => {
    const data = join(temporaryDirectory(), 'data');
    const log = join(temporaryDirectory(), 'log');
    const args = ['up', '--data', data, '--port', '0', '--runtime', 'hollow', '--node-name', 'n1'];
    const up = startProgram('coordinator/cli/everynode.js', args, log);
    await untilPasses(() => assert.match(readFileSync(log, 'utf8'), /Node n1 is Ready/));
    const { code, stderr } = await runEverynode(['down', '--data', data, '--yes']);
    assert.deepEqual([code, stderr], [0, '']);
    await untilPasses(() => assert.equal(up.exitStatus, 0));
  });

  const oneSentence = (text: string) => assert.match(text, /^[^\n]+\n$/);

  test('up with an unknown flag suggests the nearest flag', async () => {
    const { code, stderr } = await upIn('--node-nam', 'x');
    assert.equal(code, 2);
    assert.match(stderr, /--node-name/);
  });

  test('up with an invalid value fails with one sentence', async () => {
    const { code, stderr } = await upIn('--port', 'https');
    assert.equal(code, 2);
    oneSentence(stderr);
    assert.match(stderr, /--port/);
  });

  test('up with invalid labels or taints fails before anything starts', async () => {
    for (const args of [
      ['--labels', 'a b=c'],
      ['--taints', 'a=b:Never'],
    ]) {
      const { code, stderr } = await upIn(...args);
      assert.equal(code, 2, stderr);
      oneSentence(stderr);
    }
  });

  test('up with an invalid node name fails with one sentence', async () => {
    const { code, stderr } = await upIn('--node-name', 'Not_A_Name');
    assert.equal(code, 2, stderr);
    oneSentence(stderr);
  });

  test('up with a port in use fails with one sentence', async (context) => {
    const server = createServer();
    const port = await new Promise<number>((done) => {
      server.listen(0, '0.0.0.0', () => {
        const address = server.address();
        done(typeof address === 'object' && address ? address.port : 0);
      });
    });
    context.after(() => server.close());
    const { code, stderr } = await upIn('--port', String(port));
    assert.equal(code, 3);
    oneSentence(stderr);
    assert.match(stderr, new RegExp(`${port}.*in use.*--port`));
  });

  test('up without an engine fails with one sentence', async () => {
    const data = join(temporaryDirectory(), 'data');
    const nowhere = { DOCKER_HOST: `unix://${data}.sock` };
    const { code, stderr } = await runEverynode(['up', '--data', data, '--runtime', 'docker'], nowhere);
    assert.equal(code, 3);
    oneSentence(stderr);
  });

  test('up with a read-only data directory fails with one sentence', async () => {
    const file = join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    const { code, stderr } = await upIn('--data', join(file, 'data'));
    assert.equal(code, 3, stderr);
    oneSentence(stderr);
    assert.match(stderr, /--data/);
  });

  test('up with a damaged database fails with one sentence', async () => {
    const data = join(temporaryDirectory(), 'data');
    mkdirSync(data, { recursive: true });
    writeFileSync(
      join(data, 'everynode.db'),
      'this is not a database, but long enough to be one'.repeat(100),
    );
    const { code, stderr } = await upIn('--data', data);
    assert.equal(code, 4, stderr);
    oneSentence(stderr);
  });
});

test('help lists every command, and version prints the version', async () => {
  const help = await runEverynode(['--help']);
  for (const command of ['up', 'down', 'coordinator', 'agent', 'token', 'version']) {
    assert.match(help.stdout, new RegExp(`\\n  ${command}\\b`));
  }
  assert.match((await runEverynode(['version'])).stdout, /^everynode \d+\.\d+\.\d+/);
  assert.match((await runEverynode(['token', 'create', '--help'])).stdout, /--ttl/);
});

// The documented commands use the same address of the loopback device and the same directory of the host as the tests
// above. In a file of their own they would run at the same time.
tour('docker');
