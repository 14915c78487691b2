/** A machine with systemd whose firewall lets it reach the coordinator only through an HTTP proxy. */
import assert from 'node:assert/strict';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { ForwardProxy } from '../../harness/api/forward-proxy.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { freePort } from '../../harness/basics/test-sockets.js';
import { until } from '../../harness/basics/wait-until.js';
import { createKubectl, whyNoKubectl } from '../../harness/clients/kubectl.js';
import { UNITS_OF_TESTS } from '../../harness/hosts/host-units.js';
import { TestHosts } from '../../harness/hosts/test-hosts.js';
import { INSTALL_COMMAND } from '../../harness/hosts/two-hosts-fixture.js';
import { tokenInLine } from '../../harness/hub/join-line.js';
import { runEverynode, startCoordinatorProcess } from '../../harness/processes/everynode-processes.js';

/** No DNS server knows it. */
const NAME = 'coordinator.test';
const PASSWORD = 'p@ss%';
const POD = `apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  nodeName: one
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: "app:1", command: [/bin/busybox, sleep, "9999"]}]
`;
const WAIT = { timeoutMs: 90_000, what: 'the node' };

test('a host behind an HTTP proxy is installed, runs Pods, and reconnects when the proxy was down', async (context) => {
  const why = whyNoKubectl();
  const hosts = why ?? (await TestHosts.open());
  if (typeof hosts === 'string') return leaveOut(context, 'a host behind a proxy', hosts);
  context.after(() => hosts.stop());
  const { gateway } = hosts;
  const [data, port] = [join(temporaryDirectory(), 'data'), await freePort()];
  const listen = ['--host', gateway, '--port', String(port), '--advertise', NAME];
  const coordinator = await startCoordinatorProcess(data, listen);
  context.after(() => coordinator.end('SIGTERM'));
  const credentials = `ann:${PASSWORD}`;
  const proxy = await ForwardProxy.open(context, {
    credentials,
    names: { [NAME]: gateway },
    address: gateway,
  });
  const kubectl = createKubectl(coordinator.kubeconfig, undefined, { HTTPS_PROXY: proxy.url });
  context.after(() => kubectl.remove());
  const { stdout } = await runEverynode(['token', 'create', '--data', data], { HTTPS_PROXY: proxy.url });

  const host = await hosts.start('one', 'docker', resolve('.'));
  await host.loadImages(['app:1']);
  for (const [path, text] of UNITS_OF_TESTS.filter(([path]) => path.includes('agent')))
    host.write(path, text);
  host.run('iptables', '-A', 'OUTPUT', '-p', 'tcp', '--dport', String(port), '-j', 'REJECT');
  host.write('/run/token', tokenInLine(stdout));
  const install = `${INSTALL_COMMAND.join(' ')} --server https://${NAME}:${port} --token-file /run/token`;
  assert.throws(() => host.run(...install.split(' ')), /cannot be reached/);
  host.write('/run/install.sh', `export HTTPS_PROXY='${proxy.url}' NO_PROXY=.internal\nexec ${install}\n`);
  // In the background: the proxy is in this process, which waits for commands of hosts.
  host.run('sh', '-c', 'setsid sh /run/install.sh >/run/install.log 2>&1 </dev/null &');

  const isThere = async () => (await kubectl.run(['get', 'node', 'one'])).code === 0;
  await until(isThere, WAIT);
  await kubectl.ok('wait --for=condition=Ready node/one --timeout=90s');
  await kubectl.ok('apply -f -', POD);
  await kubectl.ok('wait --for=condition=Ready pod/p --timeout=90s');
  const exec = async () => (await kubectl.run(['exec', 'p', '--', '/bin/busybox', 'echo', 'hello'])).stdout;
  assert.equal(await exec(), 'hello\n');

  assert.equal(host.run('stat', '-c', '%a %U', '/etc/everynode/proxy.env'), '600 root');
  const shown = [
    'ps -ef',
    'systemctl show everynode-agent',
    'systemctl cat everynode-agent',
    'journalctl -u everynode-agent',
  ];
  for (const command of shown) {
    const text = host.run('sh', '-c', command);
    for (const secret of [PASSWORD, encodeURIComponent(PASSWORD)]) assert.ok(!text.includes(secret), command);
  }

  proxy.stop();
  await until(() => host.run('journalctl', '-u', 'everynode-agent').includes('ECONNREFUSED'), WAIT);
  await proxy.start();
  await until(async () => (await exec()) === 'hello\n', WAIT);
  for (const change of ['reload', 'restart']) {
    const tunnels = proxy.targets.length;
    host.run('systemctl', change, '--no-block', 'everynode-agent');
    await until(() => proxy.targets.length > tunnels, { ...WAIT, what: `a tunnel after ${change}` });
    await until(async () => (await exec()) === 'hello\n', WAIT);
  }
});
