/** `why svc/NAME`, by the API and by the command. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ServiceExplainer } from '../../../coordinator/controllers/views/service-explainer.js';
import { endpointSliceKind, serviceKind } from '../../../coordinator/kinds/index.js';
import type { ServiceReasonsDocument } from '../../../shared/kube/fleet/service-explanation-types.js';
import { startTestApi, type TestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';
import {
  type ControlPlane,
  joinNode,
  startControlPlane,
} from '../../harness/controllers/control-plane-fixture.js';
import { serviceObject, servingPod, sliceObject, storePod } from '../../harness/hub/hub-service-builders.js';

const PROGRAM = fileURLToPath(new URL('../../../coordinator/cli/everynode.js', import.meta.url));
const WHY = '/apis/fleet.everynode.dev/v1/namespaces/default/services';
const READY = [{ type: 'Ready', status: 'True' as const }];

let plane: ControlPlane;
let api: TestApi;
let dataDir: string;

/** `web` has a ready Pod in the network of n1, an unready one on n2, and one on n3 without a port on its host. */
before(async () => {
  plane = await startControlPlane();
  const { registry } = plane;
  for (const name of ['n1', 'n2', 'n3']) await joinNode(plane, name);
  await registry.create(serviceKind, 'default', serviceObject('web'));
  const [one, two, three] = [servingPod('web', 'n1'), servingPod('web', 'n2'), servingPod('web', 'n3', {})];
  for (const pod of [one, three]) pod.status = { ...pod.status, conditions: READY };
  for (const pod of [one, two, three]) await storePod(registry, pod);
  const { selector: _, ...written } = serviceObject('printer').spec ?? {};
  await registry.create(serviceKind, 'default', { ...serviceObject('printer'), spec: written });
  await registry.create(endpointSliceKind, 'default', sliceObject('printer', [{ addresses: ['10.9.9.9'] }]));
  await plane.settle();
  const hostsWith = ({ name }: { name: string }) => (name === 'web' ? ['n3', 'n1'] : []);
  api = await startTestApi({ serviceExplainer: new ServiceExplainer({ ...plane, sent: { hostsWith } }) });
  dataDir = mkdtempSync(join(tmpdir(), 'everynode-why-'));
  writeFileSync(join(dataDir, 'kubeconfig'), api.kubeconfig);
});

after(async () => {
  rmSync(dataDir, { recursive: true });
  await api.stop();
  await plane.stop();
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

test('each Pod of the selector has a code, and the hosts that have the Service are sorted', async () => {
  const answer = await call(api, `GET ${WHY}/web/why`);
  assert.equal(answer.code, 200);
  const { endpoints, counts, knownBy } = answer.json<ServiceReasonsDocument & Record<string, unknown>>();
  assert.deepEqual(counts, { Ready: 1, ReadyOnOwnHost: 1, NotReady: 1 });
  assert.deepEqual(
    endpoints.map(({ node, code }) => [node, code]),
    [
      ['n1', 'Ready'],
      ['n3', 'ReadyOnOwnHost'],
      ['n2', 'NotReady'],
    ],
  );
  assert.deepEqual(knownBy, ['n1', 'n3']);
});

test('endpoints of a Service without a selector come from its EndpointSlices', async () => {
  const { endpoints } = (await call(api, `GET ${WHY}/printer/why`)).json<
    ServiceReasonsDocument & Record<string, unknown>
  >();
  assert.deepEqual(endpoints, [
    {
      ...{ pod: '', node: '', code: 'Ready', because: 'it is in EndpointSlice printer-1' },
      listed: { state: 'ready', isFleetWide: true, addresses: ['10.9.9.9'], ports: [80] },
    },
  ]);
});

const REFUSED: [request: string, code: number, message: RegExp][] = [
  [`GET ${WHY}/none/why`, 404, /^services "none" not found$/],
  [`GET ${WHY}/web/why?node=n1`, 400, /unknown parameter "node"/],
  [`DELETE ${WHY}/web/why`, 405, /does not allow this method/],
];

for (const [request, code, message] of REFUSED) {
  test(`${request} is refused with ${code}`, async () => {
    const answer = await call(api, request);
    assert.equal(answer.code, code);
    assert.match(answer.json<{ message: string }>().message, message);
  });
}

test('the command prints endpoints, reasons and hosts', async () => {
  const { code, stdout } = await why('svc/web');
  assert.equal(code, 0);
  assert.match(stdout, /^default\/web: 2 of 3 Pods are ready\. 1 Pod has no port on its host; use hostPort/);
  assert.match(stdout, /^Ready +n1 +web-n1 +10\.0\.0\.1:80 +it is ready$/m);
  assert.match(stdout, /^ReadyOnOwnHost +n3 .* use hostPort or hostNetwork$/m);
  assert.match(stdout, /^2 hosts have it: n1, n3$/m);
});

test('the command refuses a node for a Service, and prints JSON on request', async () => {
  const refused = await why('svc/web', 'node/n1');
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /A node can be given for a DaemonSet/);
  const { stdout } = await why('service/web', '-o', 'json');
  assert.equal(JSON.parse(stdout).kind, 'ServiceExplanation');
});
