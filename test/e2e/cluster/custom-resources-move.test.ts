/**
 * Definitions and custom resources move with the database: from a single coordinator to several on a real etcd, from one
 * leader to the next, and through a backup to a restored coordinator. Each coordinator serves them from its first answer.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CustomResourceDefinition } from '../../../shared/kube/objects/custom-resource-definition.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { until } from '../../harness/basics/wait-until.js';
import { MovedFleet, type Place } from '../../harness/cluster/moved-fleet.js';
import { missingEtcd, startEtcd } from '../../harness/etcd/etcd-process.js';
import { definitionVersion, widgetDefinition } from '../../harness/objects/definition-builder.js';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const SCHEMA = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: { size: { type: 'integer', maximum: 9 }, color: { type: 'string', default: 'red' } },
    },
  },
} as const;

function widgets(): CustomResourceDefinition {
  const { status: _, ...definition } = widgetDefinition([
    definitionVersion(SCHEMA),
    definitionVersion(SCHEMA, { name: 'v1beta1', storage: false }),
  ]);
  return definition;
}

/** The same definition with another name. */
function gauges(): CustomResourceDefinition {
  const definition = widgets();
  const names = { plural: 'gauges', singular: 'gauge', kind: 'Gauge', listKind: 'GaugeList' };
  return { ...definition, metadata: { name: 'gauges.example.com' }, spec: { ...definition.spec, names } };
}

const objects = (resource: string, version = 'v1') =>
  `/apis/example.com/${version}/namespaces/default/${resource}`;

/** Stores the definition and one object of it. */
async function storeBoth(
  fleet: MovedFleet,
  place: Place,
  definition: CustomResourceDefinition,
): Promise<void> {
  const { plural, kind } = definition.spec.names;
  assert.equal(await fleet.request(place, 'POST', DEFINITIONS, definition), 201);
  const object = { apiVersion: 'example.com/v1', kind, metadata: { name: 'a' }, spec: { size: 3 } };
  await until(async () => (await fleet.request(place, 'POST', objects(plural), object)) === 201, {
    what: `${plural} to be served`,
  });
}

/** One request without a retry. */
async function assertServed(fleet: MovedFleet, place: Place, resource: string): Promise<void> {
  for (const version of ['v1', 'v1beta1']) {
    const { code, body } = await fleet.send(place, 'GET', `${objects(resource, version)}/a`);
    const { apiVersion, spec } = body as KubeObject & { spec: unknown };
    assert.deepEqual(
      [code, apiVersion, spec],
      [200, `example.com/${version}`, { size: 3, color: 'red' }],
      JSON.stringify(body),
    );
  }
  const tooLarge = { metadata: { name: 'b' }, spec: { size: 99 } };
  assert.equal(await fleet.request(place, 'POST', objects(resource), tooLarge), 422);
}

async function joinSecond(fleet: MovedFleet, [first, second]: readonly [Place, Place], etcdFlags: string) {
  const printed = await fleet.run(`everynode coordinator token --data ${first.data}`);
  const [line = ''] = /^ {2}echo .*$/m.exec(printed) ?? [];
  await fleet.run(`${line.trim()} ${fleet.flags(second)}`);
  await fleet.start(second, etcdFlags);
  await fleet.untilRoles(second, 'Follower', 'Leader');
}

/** The former leader exits. */
async function leadAt(fleet: MovedFleet, next: Place, former: Place): Promise<void> {
  const said = await fleet.run(`everynode coordinator step-down --data ${next.data}`);
  assert.match(said, new RegExp(`leads at https://127.0.0.1:${next.port}`));
  await fleet.untilEnded(former);
}

test('custom resources are served by each coordinator from its first answer', async (context) => {
  const missing = missingEtcd();
  if (missing !== undefined) return leaveOut(context, 'custom resources of several coordinators', missing);
  const etcd = await startEtcd();
  context.after(() => etcd.stop());
  const fleet = new MovedFleet();
  context.after(() => fleet.close());
  const etcdFlags = `--etcd ${etcd.endpoints.join()}`;
  const [first, second] = [await fleet.place('first'), await fleet.place('second')];

  await fleet.start(first);
  await storeBoth(fleet, first, widgets());
  await fleet.stop(first);
  await fleet.run(`everynode coordinator clusterize ${fleet.flags(first)} ${etcdFlags}`);
  await fleet.start(first, etcdFlags);
  await assertServed(fleet, first, 'widgets');

  await joinSecond(fleet, [first, second], etcdFlags);
  await assertServed(fleet, second, 'widgets');
  // A follower learns of this definition from the log.
  await storeBoth(fleet, first, gauges());
  await leadAt(fleet, second, first);
  await assertServed(fleet, second, 'gauges');

  await fleet.start(first, etcdFlags);
  await fleet.untilRoles(first, 'Follower', 'Leader');
  assert.equal(await fleet.request(second, 'DELETE', `${DEFINITIONS}/gauges.example.com`), 200);
  await until(async () => (await fleet.request(second, 'GET', `${DEFINITIONS}/gauges.example.com`)) === 404, {
    what: 'the definition to be removed',
  });
  await fleet.untilRoles(first, 'Follower', 'Leader');
  await leadAt(fleet, first, second);
  assert.equal(await fleet.request(first, 'GET', objects('gauges')), 404);
  await assertServed(fleet, first, 'widgets');

  const backup = join(fleet.folder, 'backup.tar.gz');
  await fleet.run(`everynode backup --data ${first.data} --to ${backup}`);
  const restored = await fleet.place('restored');
  await fleet.run(`everynode restore ${backup} --data ${restored.data}`);
  await fleet.start(restored);
  await assertServed(fleet, restored, 'widgets');
  assert.equal(await fleet.request(restored, 'GET', objects('gauges')), 404);
});
