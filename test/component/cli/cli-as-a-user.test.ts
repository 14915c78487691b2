/** The commands of `everynode` as a user runs them: with a kubeconfig, and the rights of their roles. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { sharedPki } from '../../harness/api/api-fixture.js';
import { CoordinatorApi } from '../../harness/api/coordinator-api.js';
import { temporaryDirectory } from '../../harness/basics/temporary-directory.js';
import { until } from '../../harness/basics/wait-until.js';
import { tokenInLine } from '../../harness/hub/join-line.js';
import {
  type CoordinatorProcess,
  runEverynode,
  startCoordinatorProcess,
} from '../../harness/processes/everynode-processes.js';

const AGENT = fileURLToPath(new URL('../../../agent/everynode-agent.cjs', import.meta.url));
const FLEET = 'fleet.everynode.dev';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const DAEMON_SET = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: "web:1"}]}}
`;
/** The rules that all commands below need together. */
const RULES = [
  { apiGroups: [''], resources: ['secrets'], verbs: ['create', 'list', 'get', 'update', 'delete'] },
  { apiGroups: ['apps'], resources: ['daemonsets'], verbs: ['get', 'create'] },
  { apiGroups: [FLEET], resources: ['daemonsets/why', 'rollouts', 'rollouts/hosts'], verbs: ['get', 'list'] },
  { apiGroups: [FLEET], resources: ['joinaddress', 'restore', 'auditevents'], verbs: ['list'] },
  { apiGroups: [FLEET], resources: ['plan'], verbs: ['create'] },
  {
    apiGroups: ['certificates.k8s.io'],
    resources: ['certificatesigningrequests'],
    verbs: ['list', 'create', 'get'],
  },
  {
    apiGroups: ['certificates.k8s.io'],
    resources: ['certificatesigningrequests/approval'],
    verbs: ['update'],
  },
  { apiGroups: ['certificates.k8s.io'], resources: ['signers'], verbs: ['approve'] },
];

/** Returns an empty text for a missing file or an exited process. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

describe('everynode run by a user', () => {
  const folder = temporaryDirectory();
  const data = join(folder, 'data');
  const home = join(folder, 'home');
  let coordinator: CoordinatorProcess;
  let api: CoordinatorApi;

  before(async () => {
    mkdirSync(home);
    coordinator = await startCoordinatorProcess(data);
    api = new CoordinatorApi(coordinator.kubeconfig);
    await api.request('POST', '/api/v1/namespaces', { metadata: { name: 'shop' } });
    await api.request('POST', '/apis/apps/v1/namespaces/shop/daemonsets', {
      metadata: { name: 'web' },
      spec: {
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'web', image: 'web:1' }] },
        },
      },
    });
    await api.request('POST', `${RBAC}/clusterroles`, { metadata: { name: 'all-of-it' }, rules: RULES });
    await api.request('POST', `${RBAC}/clusterrolebindings`, {
      metadata: { name: 'all-of-it' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'all-of-it' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'ops' }],
    });
    for (const [name, ...groups] of [['ann', '--group', 'ops'], ['bob']] as const) {
      const { stdout } = await runEverynode(['user', 'add', name, ...groups, '--data', data]);
      writeFileSync(join(folder, `${name}.kubeconfig`), stdout, { mode: 0o600 });
    }
    writeFileSync(join(folder, 'web.yaml'), DAEMON_SET);
  });
  after(async () => {
    api.close();
    await coordinator.end('SIGKILL');
  });

  const as = (user: string, ...words: string[]) =>
    runEverynode(words, { HOME: home, KUBECONFIG: join(folder, `${user}.kubeconfig`) });
  const COMMANDS: readonly [words: string, code: number, printed: RegExp][] = [
    ['token create --reusable --description kiosks', 0, /^echo \S+ \| everynode-agent --server https:/],
    ['token list', 0, /\n[a-z0-9]{6} .* kiosks\n/],
    ['token list -o yaml', 0, /^- id: \S+\n {2}expires: /],
    ['why ds/web -n shop', 0, /^shop\/web /],
    [`plan -f ${join(folder, 'web.yaml')}`, 0, /No changes\./],
    ['rollout history ds/web -n shop', 0, /^REVISION /],
    ['rollout status ds/web -n shop --no-watch', 7, /^no RolloutPolicy governs web/],
    ['audit --user ann --verb create', 0, / ann {2}create {2}secrets kube-system\/bootstrap-token-/],
    ['user add dora --group kiosks --ttl 12h', 0, /client-certificate-data: /],
    ['node approve --all', 0, /^no pending hosts\n$/],
    ['confirm-restore', 0, /^There is nothing to confirm\.\n$/],
  ];
  for (const [words, code, printed] of COMMANDS) {
    test(`${words.split(' -f ')[0]} works with $KUBECONFIG and the roles that it needs`, async () => {
      const done = await as('ann', ...words.split(' '));
      assert.match(done.stdout, printed, done.stderr);
      assert.equal(done.code, code, done.stderr);
    });
    test(`${words.split(' -f ')[0]} names the missing rule when roles are missing`, async () => {
      const done = await as('bob', ...words.split(' '));
      assert.equal(done.code, words.startsWith('plan') ? 1 : 5, done.stderr);
      assert.match(done.stderr, /^Error from server \(Forbidden\): .* is forbidden: User "bob" cannot /);
      assert.match(
        done.stderr,
        /\n.*rule \{apiGroups: \["[^"]*"\], resources: \["[^"]+"\], verbs: \["\w+"\]\}/,
      );
    });
  }

  test('of a list of kubeconfig files the first sets the context and the default namespace', async () => {
    const first = join(folder, 'in-shop.kubeconfig');
    const context = { cluster: 'everynode', user: 'everynode', namespace: 'shop' };
    writeFileSync(first, stringify({ 'current-context': 'c', contexts: [{ name: 'c', context }] }));
    const list = [join(folder, 'none'), first, join(folder, 'ann.kubeconfig')].join(':');
    const { code, stdout, stderr } = await runEverynode(['why', 'ds/web'], { HOME: home, KUBECONFIG: list });
    assert.match(stdout, /^shop\/web /, stderr);
    assert.equal(code, 0);
  });

  test('user add with a kubeconfig makes a kubeconfig that the API accepts as this user and group', async () => {
    const added = await as('ann', 'user', 'add', 'carl', '--group', 'ops', '--ttl', '12h');
    assert.equal(added.code, 0, added.stderr);
    writeFileSync(join(folder, 'carl.kubeconfig'), added.stdout, { mode: 0o600 });
    const listed = await as('carl', 'token', 'list');
    assert.equal(listed.code, 0, listed.stderr);
    assert.match(listed.stdout, /^ID /);
  });

  test('user add with a kubeconfig cannot make administrators', async () => {
    const { code, stderr, stdout } = await as('ann', 'user', 'add', 'eve', '--group', 'system:masters');
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /--group system:masters: only the coordinator's own key may sign/);
  });

  test("control characters in another user's description are escaped", async () => {
    const evil = '\x1b[2J\x1b]0;title\x07\u009b31m\u202e';
    const made = await as('ann', 'token', 'create', '--description', evil);
    const { stdout } = await as('ann', 'token', 'list');
    assert.match(stdout, / \\u001b\[2J\\u001b\]0;title\\u0007\\u009b31m\\u202e\n/);
    assert.doesNotMatch(stdout, /[^\P{Cc}\n]|\u202e/u);
    const id = tokenInLine(made.stdout).split('.', 1)[0] ?? '';
    assert.equal((await as('ann', 'token', 'revoke', id)).stdout, `token ${id} revoked\n`);
  });

  test("the printed line joins a host without the token in any process's arguments", async (context) => {
    const { stdout: line } = await as('ann', 'token', 'create');
    const token = tokenInLine(line);
    const agentData = join(folder, 'agent');
    const agent = `${process.execPath} ${AGENT}`;
    const typed = `${line.trim().replace('everynode-agent', agent)} --runtime hollow --node-name typed --data ${agentData}`;
    // A shell that reads the line from its input, so that the line is in none of its arguments.
    const shell = spawn('sh', ['-s'], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    context.after(() => void process.kill(-(shell.pid ?? 0), 'SIGKILL'));
    shell.stdin.end(`${typed}\n`);
    await until(async () => (await api.send('GET', '/api/v1/nodes/typed')).code === 200, {
      timeoutMs: 60_000,
      what: 'the host to join',
    });
    const holding = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => textOf(`/proc/${pid}/cmdline`).includes(token));
    assert.deepEqual(holding, []);
    const secret = token.split('.')[1] ?? '';
    const files = readdirSync(agentData, { recursive: true, encoding: 'utf8' });
    assert.deepEqual(
      files.filter((file) => textOf(join(agentData, file)).includes(secret)),
      [],
    );
  });

  test('a command writes nothing into a cluster that is not Everynode', async (context) => {
    const { server, asked, kubeconfig } = await otherCluster();
    context.after(() => void server.close());
    mkdirSync(join(home, '.kube'));
    writeFileSync(join(home, '.kube/config'), kubeconfig);
    const done = await runEverynode(['token', 'create'], { HOME: home, KUBECONFIG: '' });
    assert.equal(done.code, 3, done.stderr);
    assert.match(
      done.stderr,
      /^https:\/\/127\.0\.0\.1:\d+ \(context "other" of \S+\/\.kube\/config\) is not an Everynode coordinator: .*--data DIR/,
    );
    assert.deepEqual(asked, [`GET /apis/${FLEET}`]);
  });

  /** A Kubernetes API without Everynode's API group that accepts every write. */
  async function otherCluster() {
    const { serving, trustBundle: trust } = await sharedPki();
    const asked: string[] = [];
    const server = createServer(serving, (request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.statusCode = request.method === 'GET' ? 404 : 201;
      response.end(
        JSON.stringify({ kind: 'Status', reason: 'NotFound', message: '404 page not found', code: 404 }),
      );
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const cluster = { server: url, 'certificate-authority-data': btoa(trust) };
    const kubeconfig = stringify({
      'current-context': 'other',
      contexts: [{ name: 'other', context: { cluster: 'other', user: 'other' } }],
      clusters: [{ name: 'other', cluster }],
      users: [{ name: 'other', user: { token: 't' } }],
    });
    return { server, asked, kubeconfig };
  }
});
