/**
 * The Compose file of a release, run by a real Compose on a private Docker: start, a host that joins, an upgrade by the
 * next file. Run it by `npm run hosts`. It builds the images of two releases, which takes minutes.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { leaveOut } from '../harness/basics/skip-reason.js';
import { untilPasses } from '../harness/basics/wait-until.js';
import { createKubectl, type Kubectl, whyNoKubectl } from '../harness/clients/kubectl.js';
import { startEngine, type TestEngine } from '../harness/engines/test-engines.js';
import { loadTestImages } from '../harness/engines/test-images.js';
import { APP } from './app-daemonset.js';
import { ARCHITECTURE, makeRelease } from './make-releases.js';

const TIMEOUT_MS = 90_000;
const SERVICE = 'everynode-coordinator';

/** Returns the command of a Compose on this machine: the plugin of Docker, else the separate program. */
function findCompose(): string[] | undefined {
  return [['docker', 'compose'], ['docker-compose']].find(([program = '', ...words]) => {
    try {
      execFileSync(program, [...words, 'version'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}

describe("the release's Compose file on a private Docker", { concurrency: 1 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'everynode-compose-'));
  const releases = process.env.EVERYNODE_TEST_RELEASES ?? folder;
  const compose = findCompose();
  let why = compose === undefined ? 'no Docker Compose (see .ci/packages)' : whyNoKubectl();
  let engine: TestEngine;
  let kubectl: Kubectl;

  before(async () => {
    if (why !== undefined) return;
    const started = await startEngine('docker');
    if (typeof started === 'string') {
      why = started;
      return;
    }
    engine = started;
    if (releases !== folder) return;
    for (const version of ['0.1.0', '0.2.0'])
      makeRelease(join(folder, version), join(folder, 'key.pem'), version, ['images']);
  });
  after(async () => {
    if (why === undefined) await engine.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const law = (rule: string, body: () => Promise<void>): void => {
    test(rule, async (context) => {
      if (why === undefined) await body();
      else leaveOut(context, 'a release with Docker Compose', why);
    });
  };
  const run = (command: readonly string[], env: Record<string, string> = {}): string => {
    const [program = '', ...args] = command;
    const DOCKER_HOST = `unix://${engine.socketPath}`;
    const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
    const options = { encoding: 'utf8', stdio, env: { ...process.env, DOCKER_HOST, ...env } } as const;
    return execFileSync(program, args, options).trim();
  };
  const docker = (...args: string[]): string => run(['docker', ...args]);
  const file = (version: string, suffix: string): string =>
    join(releases, version, `everynode-${suffix.replace('VERSION', version)}`);
  const load = (program: string, version: string): string =>
    docker('load', '-i', file(version, `${program}-VERSION-linux-${ARCHITECTURE}.oci.tar`));
  const up = (version: string, project: string): string =>
    run([...(compose ?? []), '-p', project, '-f', file(version, 'VERSION-compose.yaml'), 'up', '-d'], {
      EVERYNODE_ADVERTISE: engine.address,
    });
  const isHealthy = (version: string): Promise<void> =>
    untilPasses(() => {
      const state = docker('inspect', '-f', '{{.State.Health.Status}} {{.Config.Image}}', SERVICE);
      assert.equal(state, `healthy everynode.dev/coordinator:${version}`);
    }, TIMEOUT_MS);
  const containers = (): string => docker('ps', '-q', '--filter', 'label=everynode.dev/container=app');

  law('one command starts a healthy coordinator, which kubectl reaches', async () => {
    load('coordinator', '0.1.0');
    up('0.1.0', 'everynode');
    await isHealthy('0.1.0');
    kubectl = createKubectl(docker('exec', SERVICE, '/usr/lib/everynode/bin/node', '-p', READ_KUBECONFIG));
    await kubectl.ok('create configmap kept --from-literal=a=1');
    assert.equal(docker('exec', SERVICE, '/usr/lib/everynode/bin/node', '-p', 'process.getuid()'), '65532');
  });

  law('a host joins it by a container of the agent, and runs a Pod', async () => {
    await loadTestImages(engine.socketPath, ['app:1']);
    load('agent', '0.1.0');
    const made = docker('exec', SERVICE, 'everynode', 'token', 'create');
    const token = /\b[a-z0-9]{6}\.[a-z0-9]{16}\.[0-9a-f]{64}\b/.exec(made)?.[0] ?? assert.fail(made);
    // The engine runs on this machine, so the agent's folder must not be its default.
    const data = join(folder, 'agent');
    const access = ['--network=host', '--pid=host', '--cap-add=NET_ADMIN', '-e', `EVERYNODE_TOKEN=${token}`];
    const mounts = ['-v', `${engine.socketPath}:/var/run/docker.sock`, '-v', `${data}:${data}`];
    const flags = ['--server', `https://${engine.address}:6443`, '--node-name', 'contained', '--data', data];
    const agent = ['everynode.dev/agent-container:0.1.0', ...flags];
    docker('run', '-d', '--name', 'agent', ...access, ...mounts, ...agent);
    await kubectl.ok('apply -f -', APP);
    await untilPasses(async () => {
      assert.match(await kubectl.ok('get nodes'), /\ncontained +Ready /);
      assert.match(await kubectl.ok('get pods'), /\napp-\w+ +1\/1 +Running /);
    }, TIMEOUT_MS);
  });

  law("the next release's file upgrades it, and keeps data, hosts and containers", async () => {
    const before = containers();
    load('coordinator', '0.2.0');
    up('0.2.0', 'everynode');
    await isHealthy('0.2.0');
    assert.equal(await kubectl.ok('get configmap kept -o jsonpath={.data.a}'), '1');
    assert.match(await kubectl.ok('version'), /\+everynode\.0\.2\.0/);
    await untilPasses(
      async () => assert.match(await kubectl.ok('get nodes'), /\ncontained +Ready /),
      TIMEOUT_MS,
    );
    assert.equal(containers(), before);
  });

  law(
    "the Pod of the release's Kubernetes manifest runs on this fleet, by its own probes and security",
    async () => {
      const objects = parseAllDocuments(readFileSync(file('0.2.0', 'VERSION-kubernetes.yaml'), 'utf8'));
      const [namespace, service, { metadata, spec }] = objects.map((each) => each.toJS());
      const { serviceName, volumeClaimTemplates, ...rest } = spec;
      assert.deepEqual([serviceName, volumeClaimTemplates.length], [service.metadata.name, 1]);
      // Everynode has no StatefulSets and no volumes of its own.
      rest.template.spec.volumes.push({ name: volumeClaimTemplates[0].metadata.name, emptyDir: {} });
      const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: rest };
      const items = [namespace, service, deployment];
      await kubectl.ok(
        'apply --validate=strict -f -',
        JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
      );
      const which = `${metadata.name} -n ${metadata.namespace}`;
      await kubectl.ok(`rollout status deployment/${which} --timeout=90s`);
      const token = await kubectl.ok(`exec deployment/${which} -- /usr/bin/everynode token create`);
      assert.match(token, /--server https:\/\/coordinator\.example\.com:6443/);
      await kubectl.ok(`delete namespace ${metadata.namespace}`);
    },
  );

  law('a project of another name starts with the same data', async () => {
    run([...(compose ?? []), '-p', 'everynode', '-f', file('0.2.0', 'VERSION-compose.yaml'), 'down'], {
      EVERYNODE_ADVERTISE: engine.address,
    });
    up('0.2.0', 'another');
    await isHealthy('0.2.0');
    assert.equal(await kubectl.ok('get configmap kept -o jsonpath={.data.a}'), '1');
  });
});

/** The image has no `cat`. */
const READ_KUBECONFIG = "require('fs').readFileSync('/var/lib/everynode/kubeconfig', 'utf8')";
