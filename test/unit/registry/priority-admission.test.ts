/** The cases of plugin/pkg/admission/priority/admission_test.go, with upstream's texts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  defaultClass,
  expectedPriority,
  priorityCheck,
  setPodPriority,
} from '../../../coordinator/registry/admission/priority-admission.js';
import type { PriorityClasses } from '../../../coordinator/registry/registry.js';
import type { PodSpec } from '../../../shared/kube/pods/pod-types.js';
import type { PriorityClass } from '../../../shared/kube/pods/priority-class.js';
import { podObject } from '../../harness/objects/object-builders.js';

function classOf(name: string, value: number, fields: Partial<PriorityClass> = {}): PriorityClass {
  return { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value, ...fields };
}

const DEFAULT_1 = classOf('default1', 1_000, { globalDefault: true });
const DEFAULT_2 = classOf('default2', 2_000, { globalDefault: true });
const OTHER = classOf('nondefault1', 2_000);
const NEVER = classOf('polite', 2_000, { globalDefault: true, preemptionPolicy: 'Never' });
const LOWER = classOf('rude', 2_000, { globalDefault: true, preemptionPolicy: 'PreemptLowerPriority' });

function given(...all: PriorityClass[]): PriorityClasses {
  const byName = new Map(all.map((each) => [each.metadata.name, each]));
  return { get: ({ name }) => byName.get(name), list: () => byName.values() };
}

/** Returns class, priority and policy of an admitted Pod, or the message of the refusal. */
function admitted(spec: Partial<PodSpec>, ...all: PriorityClass[]): string {
  const pod = podObject('p', spec);
  try {
    setPodPriority(pod, given(...all));
  } catch (error) {
    return (error as Error).message;
  }
  const { priorityClassName = '-', priority, preemptionPolicy } = pod.spec;
  return `${priorityClassName} ${priority} ${preemptionPolicy}`;
}

const PRIORITY = (own: number, computed: number) =>
  `pods "p" is forbidden: the integer value of priority (${own}) must not be provided in pod spec; priority admission controller computed ${computed} from the given PriorityClass name`;
const POLICY = (own: string, computed: string) =>
  `pods "p" is forbidden: the string value of PreemptionPolicy (${own}) must not be provided in pod spec; priority admission controller computed ${computed} from the given PriorityClass name`;

describe('admission of a Pod', () => {
  const CASES: [string, Partial<PodSpec>, PriorityClass[], string][] = [
    [
      'with a class',
      { priorityClassName: 'default1' },
      [DEFAULT_1, OTHER],
      'default1 1000 PreemptLowerPriority',
    ],
    ['without a class', {}, [DEFAULT_1], 'default1 1000 PreemptLowerPriority'],
    ['without a class and without a default', {}, [OTHER], '- 0 PreemptLowerPriority'],
    [
      'with a class that does not exist',
      { priorityClassName: 'non-existing' },
      [],
      'pods "p" is forbidden: no PriorityClass with name non-existing was found',
    ],
    [
      'with the priority of its class',
      { priorityClassName: 'default1', priority: 1_000 },
      [DEFAULT_1],
      'default1 1000 PreemptLowerPriority',
    ],
    [
      'with a system class',
      { priorityClassName: 'system-cluster-critical' },
      [],
      'system-cluster-critical 2000000000 PreemptLowerPriority',
    ],
    [
      'with a system class and its priority',
      { priorityClassName: 'system-cluster-critical', priority: 2_000_000_000 },
      [],
      'system-cluster-critical 2000000000 PreemptLowerPriority',
    ],
    ['with priority 0 and no default', { priority: 0 }, [], '- 0 PreemptLowerPriority'],
    [
      'with the priority of the default',
      { priority: 2_000 },
      [DEFAULT_2],
      'default2 2000 PreemptLowerPriority',
    ],
    ['with another priority than the default', { priority: 1_000 }, [], PRIORITY(1_000, 0)],
    [
      'with another priority than its class',
      { priorityClassName: 'nondefault1', priority: 1_000 },
      [OTHER],
      PRIORITY(1_000, 2_000),
    ],
    ['without a policy', { priorityClassName: 'polite', priority: 2_000 }, [NEVER], 'polite 2000 Never'],
    [
      'with the policy of its class',
      { priorityClassName: 'rude', preemptionPolicy: 'PreemptLowerPriority' },
      [LOWER],
      'rude 2000 PreemptLowerPriority',
    ],
    [
      'with another policy than its class',
      { priorityClassName: 'polite', preemptionPolicy: 'PreemptLowerPriority' },
      [NEVER],
      POLICY('PreemptLowerPriority', 'Never'),
    ],
    [
      'with the policy Never and no class',
      { preemptionPolicy: 'Never' },
      [],
      POLICY('Never', 'PreemptLowerPriority'),
    ],
  ];
  for (const [rule, spec, classes, expected] of CASES) {
    test(rule, () => assert.equal(admitted(spec, ...classes), expected));
  }
});

describe('the default class', () => {
  test('of several the one with the lowest value counts', () => {
    assert.equal(defaultClass(given(DEFAULT_2, DEFAULT_1))?.metadata.name, 'default1');
    assert.equal(defaultClass(given(OTHER)), undefined);
  });

  test('the expected priority of a Pod that is not admitted yet', () => {
    const of = (spec: Partial<PodSpec>) => expectedPriority(podObject('p', spec), given(DEFAULT_1, OTHER));
    assert.deepEqual(
      [
        of({}),
        of({ priorityClassName: 'nondefault1' }),
        of({ priorityClassName: 'none' }),
        of({ priority: 3 }),
      ],
      [1_000, 2_000, 0, 3],
    );
  });
});

describe('a template for many Pods', () => {
  test('is outdated when its class is deleted, replaced or joined by a default', () => {
    const classes = new Map([['a', classOf('a', 1)]]);
    const live: PriorityClasses = { get: ({ name }) => classes.get(name), list: () => classes.values() };
    const named = priorityCheck(podObject('p', { priorityClassName: 'a' }), live);
    const unnamed = priorityCheck(podObject('p'), live);
    assert.deepEqual([named(), unnamed()], [true, true]);
    classes.set('a', classOf('a', 1, { description: 'another text' }));
    assert.equal(named(), true, 'a change of the description does not matter');
    classes.set('d', classOf('d', 5, { globalDefault: true }));
    assert.deepEqual([named(), unnamed()], [true, false]);
    classes.set('a', classOf('a', 2));
    assert.equal(named(), false);
    classes.delete('a');
    assert.equal(named(), false);
  });
});
