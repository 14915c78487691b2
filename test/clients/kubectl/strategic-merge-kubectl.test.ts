/**
 * Compares the strategic merge patch of Everynode with Kubernetes' own code, which `kubectl patch --local` runs without
 * a server.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { definitionOf } from '../../../coordinator/kinds/schema/schema-definitions.js';
import { isJsonMap, type JsonMap } from '../../../coordinator/registry/encoding/json-value.js';
import { applyStrategicMergePatch } from '../../../coordinator/registry/patch/strategic-merge-patch.js';
import { leaveOut } from '../../harness/basics/skip-reason.js';
import { createKubectl, type Kubectl } from '../../harness/clients/kubectl.js';

const POD = definitionOf('io.k8s.api.core.v1.Pod');
const PLAIN = { noNullPrototype: true };

function named(fields: Record<string, fc.Arbitrary<unknown>>, key: string, values: unknown[]) {
  const element = fc.record(
    { [key]: fc.constantFrom(...values), ...fields },
    { ...PLAIN, requiredKeys: [key] },
  ) as fc.Arbitrary<JsonMap>;
  return fc.uniqueArray(element, { selector: (item) => item[key] });
}

const ENV = named({ value: fc.constantFrom('1', '2') }, 'name', ['X', 'Y', 'Z']);
const PORTS = named({ hostPort: fc.constantFrom(8080, 8081) }, 'containerPort', [53, 80, 443]);
const COMMAND = fc.uniqueArray(fc.constantFrom('p', 'q', 'r'));
const CONTAINERS = named(
  { image: fc.constantFrom('i:1', 'i:2'), env: ENV, ports: PORTS, command: COMMAND },
  'name',
  ['a', 'b', 'c', 'd'],
);
const VOLUMES = named({ emptyDir: fc.constant({}) }, 'name', ['v', 'w']);
const TOLERATIONS = named({}, 'key', ['k', 'l']);
const FINALIZERS = fc.uniqueArray(fc.constantFrom('f/1', 'f/2', 'f/3'));

const POD_OBJECT = fc.record(
  { containers: CONTAINERS, volumes: VOLUMES, tolerations: TOLERATIONS, finalizers: FINALIZERS },
  PLAIN,
);

function podOf({ finalizers, ...spec }: { finalizers: string[] } & JsonMap): JsonMap {
  const metadata = { name: 'p', labels: { a: '1', b: '2' }, finalizers };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { ...spec, nodeSelector: { x: '1', y: '2' } } };
}

/**
 * Directives that a list of the patch gets. Order and deletion are never combined: Kubernetes' order then depends on
 * how Go's slices grow.
 */
type Dress = 'plain' | 'ordered' | 'deleting' | 'replacing';

const DRESS = fc.constantFrom<Dress>('plain', 'ordered', 'deleting', 'replacing');

function dressed(containers: JsonMap[], dress: Dress): JsonMap {
  const absent = ['a', 'b', 'c', 'd'].filter((name) => !containers.some((item) => item.name === name));
  switch (dress) {
    case 'plain':
      return { containers };
    case 'ordered': {
      const order = [...containers.map(({ name }) => ({ name })), ...absent.map((name) => ({ name }))];
      return { containers, '$setElementOrder/containers': order };
    }
    case 'deleting':
      return { containers: [...containers, ...absent.map((name) => ({ $patch: 'delete', name }))] };
    case 'replacing':
      return { containers: [...containers, { $patch: 'replace' }] };
  }
}

const SELECTOR = fc.constantFrom<JsonMap>({ x: null, z: '3' }, { $patch: 'replace', z: '3' }, {});

const PATCH = fc
  .tuple(CONTAINERS, DRESS, TOLERATIONS, SELECTOR, FINALIZERS)
  .map(([containers, dress, tolerations, nodeSelector, finalizers]) => ({
    metadata: { labels: { a: null, c: '3' }, finalizers },
    spec: { ...dressed(containers, dress), tolerations, nodeSelector },
  }));

/**
 * The value without nulls, directives, empty lists and maps, which the typed object would drop, and without what
 * kubectl adds.
 */
function compared(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => !isJsonMap(item) || !item.$patch).map(compared);
  if (!isJsonMap(value)) return value;
  const kept = Object.entries(value)
    .filter(([key]) => !key.startsWith('$') && key !== 'status')
    .map(([key, member]) => [key, compared(member)] as const)
    .filter(([, member]) => member !== null && !isEmpty(member));
  return Object.fromEntries(kept);
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/** The result of Kubernetes' code; undefined if it rejects the patch. */
async function upstream(kubectl: Kubectl, pod: JsonMap, patch: JsonMap): Promise<unknown> {
  const file = join(kubectl.home, 'pod.json');
  writeFileSync(file, JSON.stringify(pod));
  const type = ['--local', '--type', 'strategic', '-o', 'json', '-p', JSON.stringify(patch)];
  const { code, stdout } = await kubectl.run(['patch', '-f', file, ...type]);
  return code === 0 ? JSON.parse(stdout) : undefined;
}

test("strategic merge patches give the same result as Kubernetes' code", async (context: TestContext) => {
  let kubectl: Kubectl;
  try {
    kubectl = createKubectl('');
  } catch (error) {
    return leaveOut(context, 'strategic merge patch against kubectl', String(error));
  }
  context.after(() => kubectl.remove());
  let agreed = 0;
  const agree = async (object: { finalizers: string[] }, patch: JsonMap) => {
    const pod = podOf(object);
    const theirs = await upstream(kubectl, pod, patch);
    if (theirs === undefined) return;
    assert.deepEqual(compared(applyStrategicMergePatch(pod, patch, POD)), compared(theirs));
    agreed += 1;
  };
  const seed = Number(process.env.SEED ?? 1);
  await fc.assert(fc.asyncProperty(POD_OBJECT, PATCH, agree), { numRuns: 40, seed, endOnFailure: true });
  assert.ok(agreed > 30, `upstream took only ${agreed} of the patches`);
});
