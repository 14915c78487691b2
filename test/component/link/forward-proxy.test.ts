/** A host whose only way to the coordinator is an HTTP forward proxy: real programs, a real proxy, a real kubectl. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ForwardProxy } from '../../harness/api/forward-proxy.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { freePort } from '../../harness/basics/test-sockets.js';
import { until } from '../../harness/basics/wait-until.js';
import { createKubectl, whyNoKubectl } from '../../harness/clients/kubectl.js';
import { tokenInLine } from '../../harness/hub/join-line.js';
import {
  type CoordinatorProcess,
  runEverynode,
  startAgentProcess,
  startCoordinatorProcess,
} from '../../harness/processes/everynode-processes.js';

/** No DNS server knows this name: a program that resolves it itself fails. */
const NAME = 'coordinator.test';
const PASSWORD = 'p@ss:w%rd';
const CREDENTIALS = `ann:${PASSWORD}`;

async function startFleet(context: TestContext) {
  const folder = temporaryDirectory();
  const data = join(folder, 'data');
  const port = await freePort();
  const args = ['--advertise', NAME, '--port', String(port)];
  const coordinator = await startCoordinatorProcess(data, args);
  context.after(() => coordinator.end('SIGKILL'));
  const proxy = await ForwardProxy.open(context, {
    credentials: CREDENTIALS,
    names: { [NAME]: '127.0.0.1' },
  });
  const created = await runEverynode(['token', 'create', '--data', data], { HTTPS_PROXY: proxy.url });
  assert.equal(created.code, 0, created.stderr);
  const server = `https://${NAME}:${port}`;
  const kubectl = createKubectl(proxied(coordinator, server), undefined, { HTTPS_PROXY: proxy.url });
  context.after(() => kubectl.remove());
  const dataDir = join(folder, 'host');
  const agent = (environment: Record<string, string>) => {
    const started = startAgentProcess({
      ...{ node: 'n1', server, dataDir, token: tokenInLine(created.stdout) },
      args: ['--kubelet-port', String(kubeletPort)],
      environment,
    });
    context.after(() => started.end('SIGKILL'));
    return started;
  };
  const kubeletPort = await freePort();
  const log = () => (existsSync(`${dataDir}-agent.log`) ? readFileSync(`${dataDir}-agent.log`, 'utf8') : '');
  return { folder, port, coordinator, proxy, kubectl, agent, log, kubeletPort, server };
}

/** Returns the administrator's kubeconfig with the name that only the proxy resolves. */
function proxied({ kubeconfig }: CoordinatorProcess, server: string): string {
  return kubeconfig.replace(/server: .*/, `server: ${server}`);
}

const POD = `apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {nodeName: n1, containers: [{name: main, image: busybox, command: [sleep, "9999"]}]}
`;

test('join, link, exec and kubectl work through a proxy that requires credentials', async (context) => {
  const reason = whyNoKubectl();
  if (reason) return context.skip(reason);
  const fleet = await startFleet(context);
  const { proxy, kubectl, log, folder, coordinator, server } = fleet;
  const agent = fleet.agent({ HTTPS_PROXY: proxy.url, NO_PROXY: 'localhost,.internal' });
  await until(async () => (await kubectl.run(['get', 'node', 'n1'])).code === 0, {
    timeoutMs: 60_000,
    what: 'the node',
  });
  await kubectl.ok('wait --for=condition=Ready node/n1 --timeout=60s');
  await kubectl.ok('apply -f -', POD);
  await kubectl.ok('wait --for=condition=Ready pod/p --timeout=60s');
  const { code, stderr } = await kubectl.run(['exec', 'p', '--', 'true']);
  assert.equal(code, 0, stderr);
  assert.match(await kubectl.ok('get --raw /api/v1/nodes/n1/proxy/healthz'), /ok/);
  assert.deepEqual([...new Set(proxy.targets)], [`${NAME}:${fleet.port}`]);
  assert.deepEqual(proxy.refusals, []);

  const own = join(folder, 'own');
  const withUrl = proxied(coordinator, server).replace(
    /(\n\s*)server: /,
    `$1proxy-url: ${proxy.url}$1server: `,
  );
  writeFileSync(own, withUrl, { mode: 0o600 });
  for (const [file, variables] of [
    [kubectl.home, { HTTPS_PROXY: proxy.url }],
    [own, {}],
  ] as const) {
    const path = file === own ? own : join(file, 'kubeconfig');
    const listed = await runEverynode(['token', 'list', '--kubeconfig', path], variables);
    assert.equal(listed.code, 0, listed.stderr);
  }
  const direct = createKubectl(withUrl);
  context.after(() => direct.remove());
  assert.match(await direct.ok('get nodes'), /n1/);

  proxy.cutTunnels();
  await until(() => log().includes('link broke'));
  await kubectl.ok('wait --for=condition=Ready node/n1 --timeout=60s');
  const { exitStatus } = agent;
  assert.equal(exitStatus, undefined);
});
