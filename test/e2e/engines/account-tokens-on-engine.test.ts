/**
 * A Pod with a ServiceAccount can read its token, the cluster CA and the API's address in the places that in-cluster
 * clients use.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import { TourFixture } from '../../harness/hosts/tour-fixture.js';

const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount';

const POD = `
apiVersion: v1
kind: Pod
metadata: {name: robot, namespace: default}
spec:
  serviceAccountName: robot
  containers: [{name: app, image: "app:1", imagePullPolicy: Never}]
`;

/** Runs a client's shell command in the container and returns its output. */
async function inContainer(fixture: TourFixture, command: string): Promise<string> {
  return fixture.kubectl.ok(`exec robot -- ${command}`);
}

async function clientOf(fixture: TourFixture): Promise<CoreV1Api> {
  const prefix = temporaryDirectory();
  mkdirSync(join(prefix, FOLDER), { recursive: true });
  for (const file of ['token', 'ca.crt', 'namespace']) {
    writeFileSync(
      join(prefix, FOLDER, file),
      await inContainer(fixture, `/bin/busybox cat ${FOLDER}/${file}`),
    );
  }
  const environment = await inContainer(fixture, '/bin/busybox env');
  for (const name of ['KUBERNETES_SERVICE_HOST', 'KUBERNETES_SERVICE_PORT']) {
    process.env[name] = new RegExp(`^${name}=(.+)$`, 'm').exec(environment)?.[1] ?? '';
  }
  const config = new KubeConfig();
  config.loadFromCluster(prefix);
  return config.makeApiClient(CoreV1Api);
}

test('a client in a Pod is authenticated as its ServiceAccount, with its rights, until the Pod is deleted', async (context) => {
  const fixture = await TourFixture.open('docker', { images: ['app:1'] });
  if (typeof fixture === 'string') return leaveOut(context, 'a ServiceAccount on Docker', fixture);
  try {
    const { kubectl } = fixture;
    await kubectl.ok('create serviceaccount robot');
    await kubectl.ok('create rolebinding robot --clusterrole=view --serviceaccount=default:robot');
    await kubectl.ok('apply -f -', POD);
    await kubectl.ok('wait pod/robot --for=condition=Ready --timeout=60s');
    const client = await clientOf(fixture);
    const { items } = await client.listNamespacedPod({ namespace: 'default' });
    assert.deepEqual(
      items.map(({ metadata }) => metadata?.name),
      ['robot'],
    );
    await assert.rejects(
      client.listNamespacedSecret({ namespace: 'default' }),
      /system:serviceaccount:default:robot/,
    );
    const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '' } = process.env;
    // Connects from the container's own network namespace.
    await inContainer(fixture, `/bin/busybox nc -w 5 ${host} ${port} -e /bin/busybox true`);
    await kubectl.ok('delete pod robot --wait');
    await untilPasses(
      () => assert.rejects(client.listNamespacedPod({ namespace: 'default' }), /Unauthorized/),
      10_000,
    );
  } finally {
    await fixture.close();
  }
});
