/** A handover contains a Pod that a host runs without further checks. No API write of a Pod may set one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podKind } from '../../../coordinator/kinds/index.js';
import { HANDOVER_ANNOTATION } from '../../../shared/kube/handovers/host-handover.js';
import { startTestApi } from '../../harness/api/api-fixture.js';
import { call } from '../../harness/api/https-call.js';

/** A Pod that no author of this write may create: privileged, and with access to everything. */
const EVIL = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'evil', namespace: 'kube-system', uid: '22222222-1111-4111-8111-111111111111' },
  spec: {
    nodeName: 'n1',
    containers: [{ name: 'm', image: 'evil:1', securityContext: { privileged: true } }],
  },
};
const WAYS: [string, string, string][] = [
  ['PATCH', '', 'merge-patch+json'],
  ['PATCH', '', 'strategic-merge-patch+json'],
  ['PATCH', '?fieldManager=m&force=true', 'apply-patch+yaml'],
  ['PATCH', '/status', 'merge-patch+json'],
  ['PATCH', '/status', 'strategic-merge-patch+json'],
  ['PATCH', '/status?fieldManager=m&force=true', 'apply-patch+yaml'],
  ['PUT', '', 'json'],
  ['PUT', '/status', 'json'],
];

test('a handover cannot be set through the API: no way to write a Pod keeps one', async (t) => {
  const api = await startTestApi();
  t.after(() => api.stop());
  const { registry } = api;
  const pods = '/api/v1/namespaces/default/pods';
  const annotations = { [HANDOVER_ANNOTATION]: JSON.stringify({ successor: EVIL }), mine: '0' };
  const spec = { nodeName: 'n1', containers: [{ name: 'm', image: 'app:1' }] };
  const made = await call(api, `POST ${pods}`, { body: { metadata: { name: 'p', annotations }, spec } });
  assert.equal(made.code, 201, made.text);
  const ref = { namespace: 'default', name: 'p' };
  const stored = async () => (await registry.get(podKind, ref)).object().metadata.annotations;
  assert.deepEqual(await stored(), { mine: '0' });
  for (const given of [undefined, 'given']) {
    await registry.modify(podKind, ref, (pod): undefined => {
      pod.metadata.annotations = given === undefined ? {} : { [HANDOVER_ANNOTATION]: given };
    });
    for (const [at, [method, rest, type]] of WAYS.entries()) {
      const change = { ...annotations, mine: String(at) };
      const whole = (await registry.get(podKind, ref)).object();
      const metadata = { ...whole.metadata, annotations: change };
      const body =
        type === 'json'
          ? { ...whole, metadata }
          : { apiVersion: 'v1', kind: 'Pod', metadata: { annotations: change } };
      const headers = { 'content-type': `application/${type}` };
      const answer = await call(api, `${method} ${pods}/p${rest}`, { body, headers });
      assert.equal(answer.code, 200, answer.text);
      const kept = given === undefined ? {} : { [HANDOVER_ANNOTATION]: given };
      assert.deepEqual(await stored(), { mine: String(at), ...kept }, `${method} ${rest} ${type}`);
    }
  }
});
