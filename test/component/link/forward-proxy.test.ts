/** A host whose only way to the coordinator is an HTTP forward proxy: real programs, a real proxy, a real kubectl. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sharedPki } from '../../harness/api/api-fixture.js';
import { ForwardProxy } from '../../harness/api/forward-proxy.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
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

async function startFleet(context: TestContext, more: Partial<Parameters<typeof ForwardProxy.open>[1]> = {}) {
  const folder = temporaryDirectory();
  const data = join(folder, 'data');
  const port = await freePort();
  const args = ['--advertise', NAME, '--port', String(port)];
  const coordinator = await startCoordinatorProcess(data, args);
  context.after(() => coordinator.end('SIGKILL'));
  const proxy = await ForwardProxy.open(context, {
    credentials: CREDENTIALS,
    names: { [NAME]: '127.0.0.1' },
    ...more,
  });
  const { ca } = await sharedPki();
  const authorities = join(folder, 'proxy-ca.crt');
  writeFileSync(authorities, ca.cert);
  const trust = { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: authorities };
  const created = await runEverynode(['token', 'create', '--data', data], trust);
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
  return { folder, trust, port, coordinator, proxy, kubectl, agent, log, kubeletPort, server };
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
  if (reason) return leaveOut(context, 'kubectl through a proxy', reason);
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

  const opened = proxy.targets.length;
  proxy.cutTunnels();
  await until(() => proxy.targets.length > opened, {
    timeoutMs: 60_000,
    what: 'a link after idle tunnels were cut',
  });
  proxy.stop();
  const isRefused = () =>
    /no tunnel to .* through the proxy http:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED/.test(log());
  await until(isRefused, { timeoutMs: 60_000, what: 'the agent to report the dead proxy' });
  await proxy.start();
  const exec = async () => (await kubectl.run(['exec', 'p', '--', 'true'])).code === 0;
  await until(exec, { timeoutMs: 60_000, what: 'the link to return with the proxy' });
  assert.equal(agent.running, true);
  assert.deepEqual(leaks(agent.pid, log()), []);
});

/** Returns the places where other users or readers of the log would find the password. */
function leaks(pid: number, log: string): string[] {
  const texts = { 'the log': log, 'the arguments': readFileSync(`/proc/${pid}/cmdline`, 'utf8') };
  const secrets = [PASSWORD, encodeURIComponent(PASSWORD), Buffer.from(CREDENTIALS).toString('base64')];
  return Object.entries(texts).flatMap(([place, text]) =>
    secrets.some((secret) => text.includes(secret)) ? [place] : [],
  );
}

const REFUSALS: readonly [what: string, change: (url: string) => string, RegExp][] = [
  [
    'a wrong password',
    (url) => url.replace(/:[^:@]*@/, ':s3cret@'),
    /refused a tunnel to coordinator\.test:\d+: status 407 .*check the user and the password in HTTPS_PROXY/,
  ],
  [
    'a proxy that is not there',
    () => 'http://ann:s3cret@127.0.0.1:1',
    /no tunnel to coordinator\.test:\d+ through the proxy http:\/\/127\.0\.0\.1:1: connect ECONNREFUSED/,
  ],
  [
    'a proxy of another kind',
    () => 'socks5://ann:s3cret@127.0.0.1:1',
    /HTTPS_PROXY: must be of the form http:/,
  ],
  ['a target that the proxy forbids', (url) => url, /status 403 .*allow CONNECT/],
];

test('a host states why it cannot join through a proxy, without the password', async (context) => {
  const fleet = await startFleet(context);
  for (const [what, change, expected] of REFUSALS) {
    const isForbidden = what.includes('forbids');
    const environment = { HTTPS_PROXY: change(fleet.proxy.url) };
    const before = fleet.log().length;
    if (isForbidden) fleet.proxy.forbid(NAME);
    const agent = fleet.agent(environment);
    await agent.ended;
    const log = fleet.log().slice(before);
    assert.match(log, expected, what);
    assert.ok(!log.includes('s3cret'), what);
    assert.ok(agent.exitStatus !== 0, what);
  }
});

test('a host joins through a proxy that is reached by TLS, if it trusts its authority', async (context) => {
  const { serving } = await sharedPki();
  const { agent, proxy, log, trust } = await startFleet(context, { tls: serving });
  assert.match(proxy.url, /^https:/);
  const untrusting = agent({ HTTPS_PROXY: proxy.url });
  await untrusting.ended;
  assert.match(log(), /no tunnel to .* through the proxy https:.*certificate/);
  agent({ ...trust });
  await until(() => log().includes('"msg":"agent started"'), {
    timeoutMs: 60_000,
    what: 'the agent to start',
  });
  assert.ok(proxy.targets.length > 0);
});
