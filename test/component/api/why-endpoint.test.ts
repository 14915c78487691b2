/** `why` over a running DaemonSet controller, by the API and by the command. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type {
  FleetReasonsDocument,
  NodeReasonDocument,
} from '../../../coordinator/api/fleet/why-resource.js';
import { DaemonSetExplainer } from '../../../coordinator/controllers/views/daemonset-explainer.js';
import { startTestApi, type TestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';
import { DaemonFleet } from '../../harness/controllers/daemon-fleet.js';

const PROGRAM = fileURLToPath(new URL('../../../coordinator/cli/everynode.js', import.meta.url));
const WHY = '/apis/fleet.everynode.dev/v1/namespaces/default/daemonsets';

let fleet: DaemonFleet;
let api: TestApi;
let dataDir: string;

/** n0 and n1 run `web`, n2 has the wrong label, n3 had a taint before the rollout, n4 got one after it. */
before(async () => {
  fleet = await DaemonFleet.start(['n0', 'n1', 'n2', 'n3', 'n4']);
  for (const name of ['n0', 'n1', 'n3', 'n4']) await fleet.label(name, { disk: 'ssd' });
  await fleet.taint('n3', [{ key: 'gpu', effect: 'NoSchedule' }]);
  await fleet.settle();
  const template = {
    metadata: { labels: { app: 'web' } },
    spec: { containers: [{ name: 'app', image: 'app:1' }], nodeSelector: { disk: 'ssd' } },
  };
  await fleet.create('web', { template });
  await fleet.rolledOut('web');
  await fleet.taint('n4', [{ key: 'gpu', effect: 'NoSchedule' }]);
  await fleet.settle();
  api = await startTestApi({
    explainer: new DaemonSetExplainer(fleet),
  });
  dataDir = mkdtempSync(join(tmpdir(), 'everynode-why-'));
  writeFileSync(join(dataDir, 'kubeconfig'), api.kubeconfig);
});

after(async () => {
  rmSync(dataDir, { recursive: true });
  await api.stop();
  await fleet.stop();
});

/** Runs `everynode why` with these arguments. */
function why(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const argv = [PROGRAM, 'why', '--data', dataDir, ...args];
    const child = execFile(process.execPath, argv, { timeout: 20_000 }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

test('one node: code, sentence, Pod and every rule', async () => {
  const answer = await call(api, `GET ${WHY}/web/why?node=n3`);
  assert.equal(answer.code, 200);
  const { rules, sentence, ...rest } = answer.json<NodeReasonDocument & Record<string, unknown>>();
  assert.deepEqual(rest, {
    kind: 'DaemonSetNodeReason',
    apiVersion: 'fleet.everynode.dev/v1',
    daemonSet: { namespace: 'default', name: 'web' },
    node: 'n3',
    code: 'UntoleratedTaint',
  });
  assert.match(sentence, /^default\/web does not run on n3: untolerated taint gpu:NoSchedule; /);
  assert.deepEqual(
    rules.map(({ rule, passed }) => [rule, passed]),
    [
      ['NodeName', true],
      ['NodeSelector', true],
      ['NodeAffinity', true],
      ['Taints', false],
    ],
  );
});

test('a Pod that stays under a new taint is named', async () => {
  const { code, pod } = (await call(api, `GET ${WHY}/web/why?node=n4`)).json<
    NodeReasonDocument & { pod: string }
  >();
  assert.equal(code, 'KeptDespiteTaint');
  assert.match(pod, /^web-/);
});

test('the fleet: each node under one code, with counts that add up', async () => {
  const { sentence, total, reasons } = (await call(api, `GET ${WHY}/web/why`)).json<
    FleetReasonsDocument & Record<string, unknown>
  >();
  assert.equal(total, 5);
  assert.deepEqual(reasons, [
    { code: 'Running', count: 2, nodes: ['n0', 'n1'] },
    { code: 'KeptDespiteTaint', count: 1, nodes: ['n4'] },
    { code: 'UntoleratedTaint', count: 1, nodes: ['n3'] },
    { code: 'NodeSelectorMismatch', count: 1, nodes: ['n2'] },
  ]);
  assert.match(sentence, /^default\/web on 5 nodes: 2 Running, 1 KeptDespiteTaint, /);
});

const REFUSED: [request: string, code: number, message: RegExp][] = [
  [`GET ${WHY}/none/why`, 404, /^daemonsets\.apps "none" not found$/],
  [`GET ${WHY}/none/why?node=n1`, 404, /^daemonsets\.apps "none" not found$/],
  [`GET ${WHY}/web/why?node=n9`, 404, /^nodes "n9" not found$/],
  [`GET ${WHY.replace('default', 'other')}/web/why`, 404, /daemonsets\.apps "web" not found/],
  [`GET ${WHY}/web/why?nod=n1`, 400, /unknown parameter "nod"/],
  [`GET ${WHY}/web/why?node=`, 400, /must name a node/],
  [`GET ${WHY}/web/why?node=n1&node=n2`, 400, /given once/],
  [`DELETE ${WHY}/web/why`, 405, /does not allow this method/],
  [`GET ${WHY}/web/whence`, 404, /could not find the requested resource/],
  ['GET /apis/fleet.everynode.dev/v1/daemonsets/web/why', 404, /could not find the requested resource/],
];

for (const [request, code, message] of REFUSED) {
  test(`${request}: ${code}`, async () => {
    const answer = await call(api, request);
    const status = answer.json<{ kind: string; message: string; code: number }>();
    assert.deepEqual([answer.code, status.kind, status.code], [code, 'Status', code]);
    assert.match(status.message, message);
  });
}

test('an unauthenticated client gets no answer', async () => {
  assert.equal((await call(api, `GET ${WHY}/web/why`, { token: null })).code, 401);
});

test('everynode why ds/NAME node/NAME: the sentence, and a line for each rule', async () => {
  const { code, stdout } = await why('ds/web', 'node/n2');
  assert.equal(code, 0);
  const [first = '', ...rules] = stdout.trimEnd().split('\n');
  assert.match(first, /^NodeSelectorMismatch: default\/web does not run on n2: /);
  assert.deepEqual(
    rules.map((line) => line.trim().split(/ +/).slice(0, 2).join(' ')),
    ['passed NodeName', 'FAILED NodeSelector', 'passed NodeAffinity', 'passed Taints'],
  );
});

test('everynode why ds/NAME: a line for each code with its nodes', async () => {
  const { stdout } = await why('daemonset/web');
  const [first = '', ...rows] = stdout.trimEnd().split('\n');
  assert.match(first, /^default\/web on 5 nodes: /);
  assert.deepEqual(
    rows.map((line) => line.split(/ {2,}/)),
    [
      ['CODE', 'COUNT', 'NODES'],
      ['Running', '2', 'n0, n1'],
      ['KeptDespiteTaint', '1', 'n4'],
      ['UntoleratedTaint', '1', 'n3'],
      ['NodeSelectorMismatch', '1', 'n2'],
      [''],
      ['IMAGES', 'COUNT', 'NODES'],
      ['app:1', '3', 'n0, n1, n4'],
    ],
  );
});

test("everynode why -o json: the same as the API's answer", async () => {
  const { stdout } = await why('ds/web', 'node/n0', '-o', 'json');
  const { code, node } = JSON.parse(stdout) as NodeReasonDocument;
  assert.deepEqual([code, node], ['Running', 'n0']);
});

test('everynode why: an unanswerable question is one sentence and an exit code', async () => {
  const unknown = await why('ds/none');
  assert.equal(unknown.stderr, 'Error from server (NotFound): daemonsets.apps "none" not found\n');
  assert.equal(unknown.code, 5);
  const wrong = await why('web');
  assert.equal(wrong.stderr, '"web" is not of the form ds/NAME.\n');
  assert.equal(wrong.code, 2);
  assert.equal((await why('ds/web', 'pod/x')).code, 2);
});
