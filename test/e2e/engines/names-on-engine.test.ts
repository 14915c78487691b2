/**
 * Host names, resolvers, shared process namespaces and host ports of Pods on real engines, read from inside the
 * containers.
 */
import assert from 'node:assert/strict';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import { untilPasses } from '../../harness/basics/wait-until.js';
import { onEachEngine, scripted, WAITING } from '../../harness/engines/engine-pods.js';

onEachEngine('names', (pods) => {
  /** Runs a Pod with one container and returns the command's output. */
  const printed = async (pod: string, command: string, spec: Partial<PodSpec> = {}): Promise<string> => {
    const container = scripted('app', `${command} >/dev/termination-log 2>&1`);
    pods.assignPod(pod, [container], { restartPolicy: 'Never', ...spec });
    const ended = () => pods.fixture.container(pod)?.state?.terminated;
    await pods.until('ended', () => ended() !== undefined);
    const text = ended()?.message ?? '';
    await pods.remove(pod);
    return text;
  };
  const RESOLV = '/bin/busybox cat /etc/resolv.conf';
  const HOSTS = '/bin/busybox cat /etc/hosts';
  const dnsConfig = {
    nameservers: ['192.0.2.1'],
    searches: ['pod.example'],
    options: [{ name: 'ndots', value: '5' }],
  };

  for (const [where, spec] of [
    ['its own network', {}],
    ['the network of the host', { hostNetwork: true }],
  ] as const) {
    const id = 'hostNetwork' in spec ? 'host' : 'own';
    pods.law(`dnsPolicy None sets the resolver on ${where}`, async () => {
      const text = await printed(`none-${id}`, RESOLV, { ...spec, dnsPolicy: 'None', dnsConfig });
      assert.match(text, /^nameserver 192\.0\.2\.1$/m);
      assert.equal(text.match(/^nameserver/gm)?.length, 1);
      assert.match(text, /^search pod\.example$/m);
      assert.match(text, /^options .*ndots:5/m);
    });

    pods.law(`dnsConfig is merged with the host's resolver on ${where}`, async () => {
      const text = await printed(`over-${id}`, RESOLV, { ...spec, dnsConfig });
      assert.match(text, /^nameserver 192\.0\.2\.53$/m);
      assert.match(text, /^nameserver 192\.0\.2\.1$/m);
      assert.match(text, /^search host\.example pod\.example$/m);
    });

    pods.law(`hostAliases are in /etc/hosts on ${where}`, async () => {
      const hostAliases = [{ ip: '192.0.2.7', hostnames: ['shop.example', 'till.example'] }];
      const text = await printed(`aliases-${id}`, HOSTS, { ...spec, hostAliases });
      assert.match(text, /^192\.0\.2\.7\s.*shop\.example/m);
      assert.match(text, /^192\.0\.2\.7\s.*till\.example/m);
    });
  }

  pods.law("hostname and subdomain set the container's host name and domain", async () => {
    const script = '/bin/busybox hostname; /bin/busybox hostname -f';
    const text = await printed('named', `{ ${script}; }`, { hostname: 'till', subdomain: 'shop' });
    // Podman writes no domain into the hosts file.
    const full = pods.kind === 'docker' ? 'till.shop.default.svc.cluster.local' : 'till';
    assert.equal(text, `till\n${full}\n`);
  });

  pods.law('setHostnameAsFQDN sets the full name as host name', async () => {
    const spec = { subdomain: 'shop', setHostnameAsFQDN: true };
    assert.equal(
      await printed('full', '/bin/busybox hostname', spec),
      'full.shop.default.svc.cluster.local\n',
    );
  });

  pods.law(
    'containers with a shared process namespace see each other, and the sandbox is process 1',
    async () => {
      const script =
        'until /bin/busybox ps | /bin/busybox grep -q "sleep 4321"; do /bin/busybox sleep 0.1; done; /bin/busybox cat /proc/1/comm >/dev/termination-log';
      pods.assignPod('shared', [scripted('app', script), scripted('other', 'exec /bin/busybox sleep 4321')], {
        shareProcessNamespace: true,
        restartPolicy: 'OnFailure',
      });
      const ended = () => pods.fixture.container('shared')?.state?.terminated;
      await pods.until('seen', () => ended() !== undefined);
      assert.doesNotMatch(ended()?.message ?? '', /busybox|sleep|sh/);
      await pods.remove('shared');
    },
  );

  pods.law('a host port of another Pod rejects the Pod before any container starts', async () => {
    const ports = [{ containerPort: 80, hostPort: 18_765 }];
    pods.assignPod('first', [scripted('app', WAITING, { ports })]);
    await pods.until('runs', () => pods.fixture.state('first') === 'running');
    pods.assignPod('second', [scripted('app', WAITING, { ports })]);
    const status = () => pods.fixture.statuses.get('uid-second');
    await pods.until('rejected', () => status()?.phase === 'Failed');
    assert.equal(status()?.reason, 'NodePorts');
    assert.deepEqual(await pods.fixture.driver.inspectPod('uid-second'), []);
    await pods.remove('second');
    await pods.remove('first');
    pods.assignPod('third', [scripted('app', WAITING, { ports })]);
    await pods.until('runs', () => pods.fixture.state('third') === 'running');
    await pods.remove('third');
  });

  pods.law('a host port that another program uses is reported before the start', async () => {
    const { createServer } = await import('node:net');
    const server = createServer().listen(18_766, '0.0.0.0');
    try {
      await untilPasses(() => assert.ok(server.listening));
      pods.assignPod('taken', [
        scripted('app', WAITING, { ports: [{ containerPort: 80, hostPort: 18_766 }] }),
      ]);
      await pods.until('told', () => pods.fixture.state('taken') === 'CreateContainerError');
      const message = pods.fixture.container('taken')?.state?.waiting?.message;
      assert.equal(message, 'hostPort 18766/TCP is in use on this host');
      assert.deepEqual(await pods.fixture.driver.inspectPod('uid-taken'), []);
      await pods.remove('taken');
    } finally {
      server.close();
    }
  });
});
