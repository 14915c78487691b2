import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateHostValues } from '../../../coordinator/kinds/host-values/hostvalues-validation.js';
import { validateResourceValues } from '../../../coordinator/kinds/host-values/resource-values-validation.js';
import {
  ENV_FIELDS,
  validateFieldRef,
} from '../../../coordinator/kinds/pods/spec-validation/field-reference-validation.js';
import type { HostValues } from '../../../shared/kube/host-values/host-values-types.js';

const SPECS: [string, unknown, string[]][] = [
  ['nothing', {}, []],
  ['values for all hosts', { values: { store: '1' } }, []],
  ['a number', { values: { store: 1 } }, ['spec.values[store]']],
  ['a key with a quote', { values: { "a'b": '1' } }, ["spec.values[a'b]"]],
  ['1 MiB', { values: { store: 'x'.repeat(2 ** 20) } }, ['spec.values[store]']],
  ['a fraction as priority', { priority: 1.5 }, ['spec.priority']],
  ['a Secret without a key', { secrets: { token: { name: 'api' } } }, ['spec.secrets[token].key']],
  [
    'one key as text and as Secret',
    { values: { token: 'x' }, secrets: { token: { name: 'api', key: 'token' } } },
    ['spec.secrets[token]'],
  ],
  ['a host that is no name', { hosts: { 'No Host': { store: '1' } } }, ['spec.hosts[No Host]']],
  [
    'a selector without a meaning',
    { nodeSelector: { matchLabels: { 'a b': 'c' } } },
    ['spec.nodeSelector.matchLabels'],
  ],
];

for (const [what, spec, fields] of SPECS) {
  test(`HostValues with ${what} have ${fields.length === 0 ? 'no error' : 'an error at the field'}`, () => {
    const found = validateHostValues({ spec } as HostValues).map(({ field }) => field);
    assert.deepEqual([...new Set(found)], fields);
  });
}

const PATHS: [string, boolean][] = [
  ["node.metadata.labels['site']", true],
  ["node.metadata.labels['a.b/site']", true],
  ["node.metadata.labels['']", false],
  ["node.metadata.labels['a b']", false],
  ["node.metadata.annotations['A.b/c']", true],
  ["hostValues['store-number']", true],
  ["hostValues['a/b']", false],
  ['hostValues', false],
  ['node.metadata.labels', false],
  ["node.spec['x']", false],
];

for (const [fieldPath, isValid] of PATHS) {
  test(`fieldPath ${fieldPath} is ${isValid ? 'valid' : 'invalid'}`, () => {
    const errors = validateFieldRef({ apiVersion: 'v1', fieldPath }, ENV_FIELDS, 'fieldRef');
    assert.equal(errors.length === 0, isValid, JSON.stringify(errors));
  });
}

const ANNOTATIONS: [string, string, boolean][] = [
  ['app.limits.memory', 'memory', true],
  ['app.requests.cpu', 'cpu', true],
  ['other.limits.memory', 'memory', false],
  ['app.limits.gpu', 'gpu', false],
  ['app.memory', 'memory', false],
  ['app.limits.memory', 'no key', false],
];

for (const [name, key, isValid] of ANNOTATIONS) {
  test(`the annotation ${name}: ${key} is ${isValid ? 'valid' : 'invalid'}`, () => {
    const annotations = { [`resources.fleet.everynode.dev/${name}`]: key };
    const template = { metadata: { annotations }, spec: { containers: [{ name: 'app', image: 'app:1' }] } };
    assert.equal(validateResourceValues(template, 'spec.template').length === 0, isValid);
  });
}
