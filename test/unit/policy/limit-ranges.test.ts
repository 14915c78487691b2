/** The cases of plugin/pkg/admission/limitranger/admission_test.go, and the validation of LimitRanges. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  applyLimitDefaults,
  claimRefusal,
  limitRefusal,
} from '../../../coordinator/decisions/policy/limit-ranges.js';
import { limitRangeKind } from '../../../coordinator/kinds/index.js';
import type { Container, Pod } from '../../../shared/kube/pods/pod-types.js';
import type { LimitRange, LimitRangeItem } from '../../../shared/kube/policy/quota-types.js';
import { podObject } from '../../harness/objects/object-builders.js';

function range(...limits: LimitRangeItem[]): LimitRange {
  return { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'limits' }, spec: { limits } };
}

/** Reads `requests/limits`, each as `cpu memory` with `-` for none. */
function container(text: string, name = 'c'): Container {
  const list = (part = '') => {
    const [cpu, memory] = part.trim().split(' ');
    const entries = Object.entries({ cpu, memory }).filter(([, value]) => value && value !== '-');
    return Object.fromEntries(entries) as Record<string, string>;
  };
  const [requests, limits] = text.split('/');
  return { name, image: 'app:1', resources: { requests: list(requests), limits: list(limits) } };
}

function pod(containers: string[], initContainers: string[] = []): Pod {
  const spec = { containers: containers.map((text) => container(text)) };
  const init =
    initContainers.length > 0 ? { initContainers: initContainers.map((text) => container(text, 'i')) } : {};
  return podObject('p', { ...spec, ...init });
}

const containers = (item: Partial<LimitRangeItem>): LimitRangeItem => ({ type: 'Container', ...item });
const pods = (item: Partial<LimitRangeItem>): LimitRangeItem => ({ type: 'Pod', ...item });

describe('limits', () => {
  const CASES: [rule: string, pod: Pod, item: LimitRangeItem, refusal: string | undefined][] = [
    ['min request met', pod(['100m -']), containers({ min: { cpu: '50m' } }), undefined],
    ['min limit met', pod(['100m -/200m']), containers({ min: { cpu: '50m' } }), undefined],
    ['max limit met', pod(['100m -/200m']), containers({ max: { cpu: '200m' } }), undefined],
    ['ratio met', pod(['100m/200m']), containers({ maxLimitRequestRatio: { cpu: '2' } }), undefined],
    [
      'fractional ratio met',
      pod(['50m/80m']),
      containers({ maxLimitRequestRatio: { cpu: '1.6' } }),
      undefined,
    ],
    [
      'min request absent',
      pod(['/200m']),
      containers({ min: { memory: '50Mi' } }),
      'minimum memory usage per Container is 50Mi.  No request is specified',
    ],
    [
      'min request below',
      pod(['- 20Mi']),
      containers({ min: { memory: '50Mi' } }),
      'minimum memory usage per Container is 50Mi, but request is 20Mi',
    ],
    [
      'min limit below',
      pod(['50m/40m']),
      containers({ min: { cpu: '0.05' } }),
      'minimum cpu usage per Container is 50m, but limit is 40m',
    ],
    [
      'max limit absent',
      pod(['50m']),
      containers({ max: { cpu: '1' } }),
      'maximum cpu usage per Container is 1.  No limit is specified',
    ],
    [
      'max limit exceeded',
      pod(['1/2']),
      containers({ max: { cpu: '1' } }),
      'maximum cpu usage per Container is 1, but limit is 2',
    ],
    [
      'max request exceeded',
      pod(['2/1']),
      containers({ max: { cpu: '1' } }),
      'maximum cpu usage per Container is 1, but request is 2',
    ],
    [
      'ratio exceeded',
      pod(['1250m/2500m']),
      containers({ maxLimitRequestRatio: { cpu: '1' } }),
      'cpu max limit to request ratio per Container is 1, but provided ratio is 2.000000',
    ],
    [
      'ratio without a request',
      pod(['/2500m']),
      containers({ maxLimitRequestRatio: { cpu: '1' } }),
      'cpu max limit to request ratio per Container is 1, but no request is specified or request is 0',
    ],
    [
      'an init container',
      pod(['1/1'], ['1/4']),
      containers({ max: { cpu: '2' } }),
      'maximum cpu usage per Container is 2, but limit is 4',
    ],
    ['the sum of a Pod', pod(['1/1', '1/1']), pods({ max: { cpu: '2' } }), undefined],
    [
      'the sum of a Pod exceeded',
      pod(['- 60Mi/- 60Mi', '- 60Mi/- 60Mi']),
      pods({ max: { memory: '100Mi' } }),
      'maximum memory usage per Pod is 100Mi, but limit is 120Mi',
    ],
    [
      'the largest init container counts',
      pod(['1/1', '1/1'], ['2/2']),
      pods({ max: { cpu: '2' } }),
      undefined,
    ],
    [
      'several reasons',
      pod(['2 1Gi/2 1Gi']),
      containers({ max: { cpu: '1', memory: '512Mi' } }),
      '[maximum cpu usage per Container is 1, but limit is 2, maximum memory usage per Container is 512Mi, but limit is 1Gi]',
    ],
  ];
  for (const [rule, subject, item, refusal] of CASES) {
    test(rule, () => assert.equal(limitRefusal(subject, range(item)), refusal));
  }

  test('a claim is limited by its request', () => {
    const limits = range({ type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '5Gi' } });
    assert.equal(claimRefusal({ storage: '2Gi' }, limits), undefined);
    assert.equal(
      claimRefusal({ storage: '6Gi' }, limits),
      'maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi',
    );
    assert.equal(
      claimRefusal({}, limits),
      'minimum storage usage per PersistentVolumeClaim is 1Gi.  No request is specified',
    );
  });
});

test('defaults fill what containers lack, and an annotation names it', () => {
  const subject = pod(['1 -', '/2 2Gi'], ['- -']);
  applyLimitDefaults(
    subject,
    range(containers({ default: { cpu: '3', memory: '1Gi' }, defaultRequest: { cpu: '250m' } })),
  );
  assert.deepEqual(
    subject.spec.containers.map(({ resources }) => resources),
    [
      { requests: { cpu: '1' }, limits: { cpu: '3', memory: '1Gi' } },
      { requests: { cpu: '250m' }, limits: { cpu: '2', memory: '2Gi' } },
    ],
  );
  assert.deepEqual(subject.spec.initContainers?.[0]?.resources?.limits, { cpu: '3', memory: '1Gi' });
  assert.equal(
    subject.metadata.annotations?.['kubernetes.io/limit-ranger'],
    'LimitRanger plugin set: cpu, memory limit for container c; cpu request for container c; cpu request for init container i; cpu, memory limit for init container i',
  );
  const whole = pod(['1 1Gi/1 1Gi']);
  applyLimitDefaults(whole, range(containers({ default: { cpu: '3' } })));
  assert.equal(whole.metadata.annotations?.['kubernetes.io/limit-ranger'], undefined);
});

test('a range defaults its own fields: limits from max, requests from limits', () => {
  const object = range(
    containers({ max: { cpu: '2' }, min: { memory: '1Mi' } }),
    pods({ max: { cpu: '9' } }),
  );
  limitRangeKind.setDefaults(object);
  limitRangeKind.setDefaults(object);
  const [first, second] = object.spec?.limits ?? [];
  assert.deepEqual(first?.default, { cpu: '2' });
  assert.deepEqual(first?.defaultRequest, { cpu: '2', memory: '1Mi' });
  assert.equal(second?.default, undefined);
});

test('validation has the messages of ValidateLimitRange', () => {
  const errors = (...items: LimitRangeItem[]) =>
    limitRangeKind.validate(range(...items)).map(({ field, message }) => `${field}: ${message}`);
  const first = (...items: LimitRangeItem[]) => errors(...items)[0] ?? '';
  assert.deepEqual(
    errors(containers({ min: { cpu: '1' }, max: { cpu: '2' } }), pods({ max: { cpu: '9' } })),
    [],
  );
  assert.match(
    first(containers({ min: { cpu: '3' }, max: { cpu: '2' } })),
    /^spec\.limits\[0\]\.min\[cpu\]: .*min value 3 is greater than max value 2$/,
  );
  assert.match(
    first(containers({ default: { cpu: '1' }, defaultRequest: { cpu: '2' } })),
    /defaultRequest\[cpu\].*default request value 2 is greater than default limit value 1$/,
  );
  assert.match(
    first(containers({ max: { cpu: '1' }, default: { cpu: '2' } })),
    /default value 2 is greater than max value 1$/,
  );
  assert.match(first(containers({ maxLimitRequestRatio: { cpu: '800m' } })), /ratio 800m is less than 1$/);
  assert.match(first(pods({ default: { cpu: '1' } })), /may not be specified when `type` is 'Pod'$/);
  assert.match(
    first(containers({}), containers({})),
    /^spec\.limits\[1\]\.type: Duplicate value: "Container"$/,
  );
  assert.match(
    first({ type: 'PersistentVolumeClaim' }),
    /either minimum or maximum storage value is required/,
  );
});
