/** The cases of pkg/quota/v1/evaluator/core and of apiserver's resourcequota admission. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  objectUsage,
  quotaCharge,
  quotaStatus,
  quotaUsage,
} from '../../../coordinator/decisions/policy/quota-usage.js';
import { resourceQuotaKind } from '../../../coordinator/kinds/index.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import type { PodPhase, PodSpec } from '../../../shared/kube/pods/pod-types.js';
import type { ResourceQuota, ResourceQuotaSpec } from '../../../shared/kube/policy/quota-types.js';
import { podObject } from '../../harness/objects/object-builders.js';

const PODS = { group: '', resource: 'pods' };

function quota(hard: Record<string, string>, spec: ResourceQuotaSpec = {}): ResourceQuota {
  const metadata = { name: 'q', namespace: 'default' };
  return { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard, ...spec } };
}

function pod(resources: object, spec: Partial<PodSpec> = {}, phase: PodPhase = 'Running') {
  const object = podObject('p', { containers: [{ name: 'c', image: 'app:1', resources }], ...spec });
  object.status = { phase };
  return object;
}

const object = (spec: object): KubeObject =>
  ({ apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, spec }) as KubeObject;

describe('the usage of', () => {
  const FULL = { requests: { cpu: '500m', memory: '1Gi' }, limits: { cpu: '1', 'ephemeral-storage': '2Gi' } };
  test('a Pod is its requests, its limits and one Pod', () => {
    assert.deepEqual(objectUsage(PODS, pod(FULL)), {
      ...{ 'count/pods': 1, pods: 1, cpu: 500, 'requests.cpu': 500, 'limits.cpu': 1000 },
      ...{ memory: 2 ** 30, 'requests.memory': 2 ** 30, 'limits.ephemeral-storage': 2 ** 31 },
    });
  });
  test('a Pod that has ended is one object', () => {
    for (const phase of ['Succeeded', 'Failed'] as const)
      assert.deepEqual(objectUsage(PODS, pod(FULL, {}, phase)), { 'count/pods': 1 });
  });
  test('extended resources and huge pages', () => {
    const usage = objectUsage(PODS, pod({ requests: { 'example.com/gpu': '2', 'hugepages-2Mi': '4Mi' } }));
    assert.equal(usage['requests.example.com/gpu'], 2);
    assert.equal(usage['example.com/gpu'], undefined);
    assert.deepEqual([usage['hugepages-2Mi'], usage['requests.hugepages-2Mi']], [2 ** 22, 2 ** 22]);
  });
  test('the largest init container counts', () => {
    const init = [{ name: 'i', image: 'app:1', resources: { requests: { cpu: '3' }, limits: { cpu: '4' } } }];
    const usage = objectUsage(PODS, pod(FULL, { initContainers: init }));
    assert.deepEqual([usage['requests.cpu'], usage['limits.cpu']], [3000, 4000]);
  });
  test('Services by type', () => {
    const ports = [{ port: 80 }, { port: 443 }];
    const services = { group: '', resource: 'services' };
    const of = (spec: object) => {
      const usage = objectUsage(services, object({ ports, ...spec }));
      return [usage.services, usage['services.nodeports'], usage['services.loadbalancers']];
    };
    assert.deepEqual(of({ type: 'ClusterIP' }), [1, 0, 0]);
    assert.deepEqual(of({ type: 'NodePort' }), [1, 2, 0]);
    assert.deepEqual(of({ type: 'LoadBalancer' }), [1, 2, 1]);
    assert.deepEqual(of({ type: 'LoadBalancer', allocateLoadBalancerNodePorts: false }), [1, 0, 1]);
  });
  test('other objects is their count', () => {
    assert.deepEqual(objectUsage({ group: '', resource: 'secrets' }, object({})), {
      'count/secrets': 1,
      secrets: 1,
    });
    assert.deepEqual(objectUsage({ group: 'apps', resource: 'daemonsets' }, object({})), {
      'count/daemonsets.apps': 1,
    });
    assert.deepEqual(objectUsage({ group: 'a.b', resource: 'widgets' }, object({})), {
      'count/widgets.a.b': 1,
    });
  });
});

describe('scopes include', () => {
  const REQUEST = { requests: { cpu: '1' } };
  const CASES: [rule: string, spec: ResourceQuotaSpec, pod: KubeObject, included: boolean][] = [
    ['Pods with a deadline', { scopes: ['Terminating'] }, pod({}, { activeDeadlineSeconds: 9 }), true],
    ['Pods without a deadline', { scopes: ['Terminating'] }, pod({}), false],
    ['Pods without a deadline as NotTerminating', { scopes: ['NotTerminating'] }, pod({}), true],
    ['Pods without requests', { scopes: ['BestEffort'] }, pod({}), true],
    ['Pods with requests', { scopes: ['BestEffort'] }, pod(REQUEST), false],
    ['both scopes', { scopes: ['NotBestEffort', 'NotTerminating'] }, pod(REQUEST), true],
    ['a priority class', priority('In', ['high']), pod({}, { priorityClassName: 'high' }), true],
    ['another priority class', priority('In', ['high']), pod({}, { priorityClassName: 'low' }), false],
    ['any priority class', priority('Exists'), pod({}, { priorityClassName: 'low' }), true],
    ['no priority class', priority('DoesNotExist'), pod({}), true],
    ['other classes', priority('NotIn', ['high']), pod({}, { priorityClassName: 'low' }), true],
    ['Pods with affinity to other namespaces', { scopes: ['CrossNamespacePodAffinity'] }, pod({}), false],
  ];
  function priority(operator: string, values?: string[]): ResourceQuotaSpec {
    const requirement = { scopeName: 'PriorityClass', operator, ...(values ? { values } : {}) };
    return { scopeSelector: { matchExpressions: [requirement] } };
  }
  for (const [rule, spec, subject, included] of CASES) {
    test(`${rule}: ${included}`, () => {
      const usage = quotaUsage(quota({ pods: '9' }, spec), PODS, subject);
      assert.deepEqual(usage, included ? { pods: 1 } : {});
    });
  }
  test('Pods only', () => {
    const scoped = quota({ 'count/secrets': '1' }, { scopes: ['BestEffort'] });
    assert.deepEqual(quotaUsage(scoped, { group: '', resource: 'secrets' }, object({})), {});
  });
});

describe('admission', () => {
  const HARD = { pods: '2', 'requests.memory': '1Gi', cpu: '1' };
  const REQUESTS = { requests: { cpu: '600m', memory: '256Mi' } };
  const refusal = (hard: Record<string, string>, used: Record<string, number>, subject: KubeObject) =>
    quotaCharge(quota(hard), used, PODS, subject, undefined).refusal;

  test('charges what is within the quota', () => {
    const { delta, refusal: none } = quotaCharge(quota(HARD), { pods: 1 }, PODS, pod(REQUESTS), undefined);
    assert.deepEqual([delta, none], [{ pods: 1, cpu: 600, 'requests.memory': 2 ** 28 }, undefined]);
  });
  test("names all exceeded resources with upstream's sentence", () => {
    assert.equal(
      refusal(HARD, { pods: 2, cpu: 600, 'requests.memory': 2 ** 28 }, pod(REQUESTS)),
      'exceeded quota: q, requested: cpu=600m,pods=1, used: cpu=600m,pods=2, limited: cpu=1,pods=2',
    );
    assert.equal(
      refusal({ 'requests.memory': '1Gi' }, { 'requests.memory': 2 ** 30 - 1024 }, pod(REQUESTS)),
      'exceeded quota: q, requested: requests.memory=256Mi, used: requests.memory=1048575Ki, limited: requests.memory=1Gi',
    );
  });
  test('requires requests of every container', () => {
    assert.equal(
      refusal(HARD, {}, pod({})),
      'failed quota: q: must specify cpu for: c; requests.memory for: c',
    );
    assert.equal(
      refusal({ 'limits.cpu': '1' }, {}, pod(REQUESTS)),
      'failed quota: q: must specify limits.cpu for: c',
    );
    assert.equal(refusal({ pods: '1' }, {}, pod({})), undefined);
  });
  test('ignores what the quota does not limit', () => {
    assert.deepEqual(quotaCharge(quota({ 'count/secrets': '0' }), {}, PODS, pod({}), undefined), {
      delta: {},
    });
  });
  test('charges an update its difference, and allows one that uses less', () => {
    const services = { group: '', resource: 'services' };
    const [plain, nodePort] = ['ClusterIP', 'NodePort'].map((type) => object({ type, ports: [{ port: 1 }] }));
    assert.ok(plain && nodePort);
    const own = quota({ services: '1', 'services.nodeports': '0' });
    const used = { services: 1, 'services.nodeports': 1 };
    assert.deepEqual(quotaCharge(own, used, services, plain, nodePort), { delta: {} });
    assert.match(
      quotaCharge(own, { services: 1 }, services, nodePort, plain).refusal ?? '',
      /^exceeded quota: q, requested: services\.nodeports=1, used: services\.nodeports=0, limited: services\.nodeports=0$/,
    );
  });
});

test('the status has the usage in the format of the hard limits', () => {
  const own = quota({ memory: '1Gi', 'limits.cpu': '2', pods: '4', 'requests.memory': '1G' });
  const used = { memory: 2 ** 29, 'limits.cpu': 1500, 'requests.memory': 5e8 };
  assert.deepEqual(quotaStatus(own, used), {
    hard: own.spec?.hard,
    used: { memory: '512Mi', 'limits.cpu': '1500m', pods: '0', 'requests.memory': '500M' },
  });
  own.status = quotaStatus(own, used);
  const cells = Object.fromEntries(resourceQuotaKind.columns.map(({ name, cell }) => [name, cell(own, 0)]));
  assert.equal(cells.Request, 'memory: 512Mi/1Gi, pods: 0/4, requests.memory: 500M/1G');
  assert.equal(cells.Limit, 'limits.cpu: 1500m/2');
});

test('validation has the messages of ValidateResourceQuota', () => {
  const errors = (hard: Record<string, string>, spec: ResourceQuotaSpec = {}) =>
    resourceQuotaKind.validate(quota(hard, spec)).map(({ field, message }) => `${field}: ${message}`);
  assert.deepEqual(
    errors({ pods: '1', 'count/a.b': '2', 'requests.example.com/gpu': '1', 'hugepages-2Mi': '1Gi' }),
    [],
  );
  assert.match(
    errors({ nothing: '1' })[0] ?? '',
    /^spec\.hard\[nothing\]: .*must be a standard resource for quota$/,
  );
  assert.match(errors({ pods: '1.5' })[0] ?? '', /must be an integer$/);
  assert.match(errors({ cpu: '-1' })[0] ?? '', /must be greater than or equal to 0$/);
  assert.match(errors({}, { scopes: ['Other'] })[0] ?? '', /unsupported scope$/);
  assert.match(errors({}, { scopes: ['BestEffort', 'NotBestEffort'] })[0] ?? '', /conflicting scopes$/);
  const [changed] = resourceQuotaKind.validateUpdate(quota({}, { scopes: ['BestEffort'] }), quota({}));
  assert.equal(changed?.field, 'spec.scopes');
});
