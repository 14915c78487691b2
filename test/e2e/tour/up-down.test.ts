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
  let bench: TourFixture | string;
  let foreign: string[] = [];

  before(async () => {
    bench = await TourFixture.open('docker', { images: ['app:1'], args: ['--labels', 'disk=ssd'] });
    if (typeof bench === 'string') return;
    const { containers, kubectl } = bench;
    // One container without labels and one of another cluster that uses the same engine.
    const another = { 'everynode.dev/cluster': 'another', 'everynode.dev/node': 'master' };
    foreign = [await containers.run('app:1'), await containers.run('app:1', another)];
    await kubectl.ok('apply -f -', MANIFEST);
    await kubectl.ok('rollout status ds/app --timeout=30s');
  });
  after(async () => {
    if (typeof bench !== 'string') await bench.close();
  });

  const law = (rule: string, body: (bench: TourFixture) => Promise<void>): void => {
    test(rule, async (context) => {
      if (typeof bench === 'string') leaveOut(context, 'up and down on docker', bench);
      else await body(bench);
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
    async (bench) => {
      const container = await ours(bench);
      const started = await bench.containers.startedAt(container.id);
      await bench.up.end('SIGINT');
      assert.equal(bench.up.exitStatus, 0);
      assert.deepEqual(bench.agents(), []);
      assert.equal((await ours(bench)).id, container.id);
      await bench.startUp();
      assert.match(await bench.kubectl.ok('get pods'), /app-\w{5} +1\/1 +Running +0/);
      assert.equal(await bench.containers.startedAt((await ours(bench)).id), started);
    },
  );

  law('up restarts a killed agent, and the agent exits when up is killed', async (bench) => {
    const container = await ours(bench);
    const [agent = 0] = bench.agents();
    process.kill(agent, 'SIGKILL');
    await untilPasses(() => assert.ok(bench.agents().some((pid) => pid !== agent)));
    await bench.up.end('SIGKILL');
    await untilPasses(() => assert.deepEqual(bench.agents(), []));
    assert.equal((await ours(bench)).id, container.id);
    await bench.startUp();
    assert.equal((await ours(bench)).id, container.id);
  });

  law('down asks for confirmation and changes nothing without it', async (bench) => {
    const { code, stderr } = await runEverynode(['down', '--data', bench.dataDir], bench.environment);
    assert.deepEqual([code, stderr], [2, 'There is no terminal for the confirmation: pass --yes.\n']);
    await ours(bench);
  });

  law('a command that the coordinator refuses prints one sentence', async (bench) => {
    const { code, stderr } = await runEverynode(['token', 'delete', 'nobody', '--data', bench.dataDir]);
    assert.equal(code, 5);
    assert.equal(stderr, 'Error from server (NotFound): secrets "bootstrap-token-nobody" not found\n');
  });

  law('down keeps the data directory if the engine is down', async (bench) => {
    await bench.up.end('SIGINT');
    await bench.engine.kill();
    const { code, stderr } = await runEverynode(['down', '--data', bench.dataDir, '--yes']);
    await bench.engine.start();
    assert.equal(code, 3, stderr);
    assert.match(stderr, /^[^\n]+does not respond[^\n]+\n$/);
    await bench.startUp();
    await bench.kubectl.ok('rollout status ds/app --timeout=30s');
    for (const id of foreign) await bench.containers.start(id);
  });

  law(
    'down stops a running up, its containers and its data directory, and no other container',
    async (bench) => {
      // Runs without the environment of `up`: the agent has stored where its containers are.
      const { code, stderr } = await runEverynode(['down', '--data', bench.dataDir, '--yes']);
      assert.deepEqual([code, stderr], [0, '']);
      assert.equal(existsSync(bench.dataDir), false);
      await untilPasses(() => assert.equal(bench.up.running, false));
      const left = await bench.containers.all();
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
