/** Pods find and reach a DaemonSet on their own host, while agent and coordinator restart. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { CLUSTER_DNS_ADDRESS } from '../../../shared/kube/services/cluster-dns.js';
import { RELAY_ANNOTATION, relayPortsOf } from '../../../shared/kube/services/service-annotations.js';
import type { Service } from '../../../shared/kube/services/service-types.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import type { EngineKind } from '../../harness/engines/test-engines.js';
import { shell } from '../../harness/engines/test-images.js';
import { NODE, ServiceHostFixture } from '../../harness/services/service-host-fixture.js';

/** Upper bound for the reconnect back-off of an agent after a kill of the coordinator. */
const RECONNECT_MS = 90_000;
/** Longer than an agent needs to restart and to apply its rules again. */
const CONNECT_MS = 8_000;
/** Name of the Service with `internalTrafficPolicy: Local`. */
const LOCAL = 'local.default.svc.cluster.local';
const SERVES =
  'mkdir -p /www; echo daemon-of-$NODE > /www/index.html; exec /bin/busybox httpd -f -p 8080 -h /www';
const NODE_NAME = { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } };

const DAEMON = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'metrics' },
  spec: {
    selector: { matchLabels: { app: 'metrics' } },
    template: {
      metadata: { labels: { app: 'metrics' } },
      spec: {
        terminationGracePeriodSeconds: 1,
        containers: [
          {
            name: 'main',
            image: 'app:1',
            command: shell(SERVES.replaceAll('mkdir', '/bin/busybox mkdir')),
            env: [NODE_NAME],
            ports: [{ name: 'http', containerPort: 8080 }],
            readinessProbe: { exec: { command: shell('[ ! -e /unready ]') }, periodSeconds: 1 },
          },
        ],
      },
    },
  },
};

const CLIENT = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'client' },
  spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'main', image: 'app:1' }] },
};

function service(name: string, spec: object, annotations: object = {}): object {
  const ports = [{ name: 'http', port: 80, targetPort: 'http' }];
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, annotations },
    spec: { selector: { app: 'metrics' }, ports, ...spec },
  };
}

const MANIFESTS = [
  DAEMON,
  CLIENT,
  service('daemons', { clusterIP: 'None' }),
  service('local', { internalTrafficPolicy: 'Local' }),
  service('relayed', {}, { [RELAY_ANNOTATION]: 'true' }),
];

/** Registers the tests on one engine. */
export function hostServices(kind: EngineKind): void {
  describe(`Services of a host on ${kind}`, { concurrency: 1 }, () => {
    let fixture: ServiceHostFixture | string;
    before(async () => {
      fixture = await ServiceHostFixture.open(kind);
      if (typeof fixture === 'string') return;
      const { kubectl } = fixture;
      await kubectl.ok('apply -f -', MANIFESTS.map((each) => JSON.stringify(each)).join('\n---\n'));
      await kubectl.ok('rollout status ds/metrics --timeout=60s');
      await kubectl.ok('wait pod/client --for=condition=Ready --timeout=60s');
    });
    after(async () => {
      if (typeof fixture !== 'string') await fixture.close();
    });

    const law = (rule: string, body: (fixture: ServiceHostFixture) => Promise<void>): void => {
      test(rule, async (context) => {
        if (typeof fixture === 'string') leaveOut(context, `services on ${kind}`, fixture);
        else await body(fixture);
      });
    };
    const nslookup = (host: ServiceHostFixture, name: string) =>
      host.inPod('client', `nslookup ${name}`).catch((error: Error) => error.message);
    const podAddress = async ({ kubectl }: ServiceHostFixture) =>
      (await kubectl.ok('get pods -l app=metrics -o jsonpath={.items[0].status.podIP}')).trim();
    const answersAll = async (host: ServiceHostFixture): Promise<void> => {
      const address = await podAddress(host);
      for (const name of [
        'daemons',
        'daemons.default.svc.cluster.local',
        `${NODE}.daemons.default.svc.cluster.local`,
      ])
        await untilPasses(
          async () => assert.match(await nslookup(host, name), new RegExp(`: ${address}\\b`)),
          10_000,
        );
      assert.equal(await host.fetch(LOCAL, 'client'), `daemon-of-${NODE}`);
    };

    law('a headless Service and the daemon of one node have the address of the Pod', answersAll);

    law('a ClusterIP with internalTrafficPolicy Local reaches the daemon of the node', async (host) => {
      const address = (await host.kubectl.ok('get service local -o jsonpath={.spec.clusterIP}')).trim();
      assert.match(await nslookup(host, 'local'), new RegExp(`: ${address.replaceAll('.', '\\.')}\\b`));
      assert.match(host.rules().join('\n'), new RegExp(address.replaceAll('.', '\\.')));
    });

    law('the Node reports that rules for Services are in effect', async ({ kubectl }) => {
      const path = '{.status.conditions[?(@.type=="ServiceProxy")].status}';
      assert.equal((await kubectl.ok(`get node ${NODE} -o jsonpath=${path}`)).trim(), 'True');
    });

    law('another host reaches a Pod without a hostPort at the relay port', async (host) => {
      const { metadata } = JSON.parse(await host.kubectl.ok('get service relayed -o json')) as Service;
      const port = relayPortsOf(metadata).get(80);
      const url = `http://${host.engine.address}:${port}/`;
      await untilPasses(async () => {
        const response = await fetch(url, { signal: AbortSignal.timeout(3_000) });
        assert.equal((await response.text()).trim(), `daemon-of-${NODE}`);
      }, 15_000);
    });

    for (const signal of ['SIGTERM', 'SIGKILL'] as const)
      law(
        `no connection to a ClusterIP fails while the agent ends by ${signal} and restarts`,
        async (host) => {
          const rules = host.rules();
          const address = (await host.kubectl.ok('get service local -o jsonpath={.spec.clusterIP}')).trim();
          const connecting = host.connectRepeatedly(address, CONNECT_MS);
          await host.endAgent(signal);
          assert.deepEqual(host.rules(), rules);
          assert.notDeepEqual(rules, []);
          host.startAgent();
          await untilPasses(() => answersAll(host));
          const { served, errors } = await connecting;
          assert.deepEqual(errors, []);
          assert.ok(served > 20, `${served} connections`);
        },
      );

    law(
      'without the coordinator a restarted agent answers, and drops a Pod that becomes not ready',
      async (host) => {
        const files = await host.filesOf('metrics');
        const name = `${NODE}.daemons.default.svc.cluster.local`;
        await host.killCoordinator();
        await host.endAgent('SIGKILL');
        host.startAgent();
        await untilPasses(async () => {
          assert.match(await lookUpFromHost(host, name), /Name:/);
          assert.equal(await host.fetch(LOCAL), `daemon-of-${NODE}`);
        });
        writeFileSync(join(files, 'unready'), '');
        await untilPasses(async () => assert.match(await lookUpFromHost(host, name), /NXDOMAIN/), 15_000);
        rmSync(join(files, 'unready'));
        await untilPasses(async () => assert.match(await lookUpFromHost(host, name), /Name:/), 15_000);
        await host.startCoordinator();
        await untilPasses(() => answersAll(host), RECONNECT_MS);
      },
    );
  });
}

/** The server is named, because the host itself uses its own resolver. */
function lookUpFromHost(host: ServiceHostFixture, name: string): Promise<string> {
  return host.onHost('/bin/busybox', 'nslookup', '-type=a', name, CLUSTER_DNS_ADDRESS);
}
