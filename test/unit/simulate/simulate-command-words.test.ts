/** Texts of a simulation: annotations, node queries, manifests, commands. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNodeQuery } from '../../../agent/simulate/node-query.js';
import { nodesFromDocuments, statusFromTemplate } from '../../../agent/simulate/node-templates.js';
import { WarningLimiter } from '../../../agent/simulate/simulated-node.js';
import { simulationAnnotationErrors } from '../../../agent/simulate/simulation-annotation-errors.js';
import { durationMs, simulatedBehaviour } from '../../../agent/simulate/simulation-annotations.js';
import { parseCommand } from '../../../agent/simulate/simulation-command.js';
import { nodeObject, podObject } from '../../harness/objects/object-builders.js';

const NODE = { name: 'node-3', labels: { zone: 'a', gpu: '' } };

const PRETENCES: [annotations: Record<string, string>, speed: number, behaviour: unknown][] = [
  [{}, 1, undefined],
  [{ 'ready-after': '5s' }, 1, { ready: { afterMs: 5000 } }],
  [{ 'ready-after': '1m' }, 60, { ready: { afterMs: 1000 } }],
  [{ fail: 'true' }, 1, { exit: { afterMs: 0, code: 1 } }],
  [{ fail: 'true', 'fail-on': 'node-3,node-7' }, 1, { exit: { afterMs: 0, code: 1 } }],
  [{ fail: 'true', 'fail-on': 'node-7' }, 1, {}],
  [{ 'fail-on': 'zone in (a,b)', 'exit-code': '7' }, 1, { exit: { afterMs: 0, code: 7 } }],
  [{ 'fail-after': '10m' }, 60, { exit: { afterMs: 10_000, code: 1 } }],
  [{ 'exit-after': '10s' }, 1, { exit: { afterMs: 10_000, code: 0 } }],
  [{ 'exit-after': '10s', 'exit-code': '1' }, 1, { exit: { afterMs: 10_000, code: 1 } }],
  [{ 'pull-time': '20s' }, 10, { pull: { afterMs: 2000 } }],
  [{ 'ready-after': 'soon' }, 1, {}],
];

for (const [annotations, speed, behaviour] of PRETENCES) {
  test(`a Pod annotated ${JSON.stringify(annotations)} at speed ${speed} is simulated accordingly`, () => {
    const pod = podObject('p');
    const prefixed = Object.entries(annotations).map(([key, text]) => [
      `simulate.everynode.dev/${key}`,
      text,
    ]);
    pod.metadata.annotations = Object.fromEntries(prefixed);
    assert.deepEqual(simulatedBehaviour(pod, { node: NODE, speed, isRebooted: false }), behaviour);
  });
}

test("a simulated pull failure has the message of a registry's rejection", () => {
  const pod = podObject('p');
  pod.metadata.annotations = { 'simulate.everynode.dev/pull': 'fail' };
  assert.equal(
    simulatedBehaviour(pod, { node: NODE, speed: 1, isRebooted: false })?.pull?.error?.reason,
    'ErrImagePull',
  );
});

test('a Pod set to fail after a reboot fails once its host has rebooted', () => {
  const pod = podObject('p');
  pod.metadata.annotations = { 'simulate.everynode.dev/fail-after-reboot': 'true' };
  const exitOf = (isRebooted: boolean) => simulatedBehaviour(pod, { node: NODE, speed: 1, isRebooted })?.exit;
  assert.equal(exitOf(false), undefined);
  assert.deepEqual(exitOf(true), { afterMs: 0, code: 1 });
});

const QUERIES: [text: string, meant: boolean][] = [
  ['*', true],
  ['node-3', true],
  ['node-1, node-3', true],
  ['node-33', false],
  ['zone=a', true],
  ['zone==a,gpu=', true],
  ['zone=a,gpu=x', false],
  ['zone!=a', false],
  ['other!=a', true],
  ['!other', true],
  ['!gpu', false],
  ['zone in (a, b)', true],
  ['zone notin (a, b)', false],
  ['other notin (a)', true],
  ['zone in (a),!other', true],
];

for (const [text, meant] of QUERIES) {
  test(`"${text}" ${meant ? 'selects' : 'does not select'} node-3 of zone a`, () => {
    assert.equal(parseNodeQuery(text)(NODE), meant);
  });
}

for (const text of ['((', 'zone=a,(b', 'zone=a,,gpu', 'a b in (c', '!']) {
  test(`"${text}" means nobody, not everybody: it is refused`, () => {
    assert.throws(() => parseNodeQuery(text), /is not a label selector/);
  });
}

const MISTAKES: [annotations: Record<string, string>, told: RegExp | undefined][] = [
  [{}, undefined],
  [
    { 'ready-after': '5s', fail: 'true', 'fail-on': 'zone in (a)', pull: 'fail', 'exit-code': '3' },
    undefined,
  ],
  [{ 'ready-after': '5' }, /^Pod default\/p: .*ready-after: "5" is not a duration.*it is ignored$/],
  [{ 'fail-on': '((' }, /fail-on: "\(\(" selects no nodes/],
  [{ fail: 'yes' }, /neither "true" nor "false"/],
  [{ 'exit-code': '-1' }, /not an exit code/],
  [{ pull: 'slow' }, /is not "fail"/],
  [{ readyafter: '5s' }, /is not one of ready-after, fail, /],
];

for (const [annotations, told] of MISTAKES) {
  test(`annotations ${JSON.stringify(annotations)} ${told ? `warn that ${told}` : 'cause no warning'}`, () => {
    const pod = podObject('p');
    const prefixed = Object.entries(annotations).map(([key, text]) => [
      `simulate.everynode.dev/${key}`,
      text,
    ]);
    pod.metadata.annotations = { 'example.com/fail': 'x', ...Object.fromEntries(prefixed) };
    const mistakes = simulationAnnotationErrors(pod);
    assert.equal(mistakes.length, told ? 1 : 0);
    if (told) assert.match(mistakes[0] ?? '', told);
  });
}

test('a warning is given once, and warnings of one kind are limited', () => {
  const said: string[] = [];
  const remarks = new WarningLimiter((text) => said.push(text));
  for (const text of ['a', 'a', 'b', 'c', 'd', 'e', 'f', 'g']) remarks.warn('x', text);
  remarks.warn('y', 'a');
  assert.deepEqual(said, ['a', 'b', 'c', 'd', 'e (further warnings of this kind are not shown)', 'a']);
});

test("only durations in Go's format are accepted", () => {
  assert.deepEqual(['1h2m3.5s', '300ms', '0s'].map(durationMs), [3_723_500, 300, 0]);
  assert.deepEqual(['', '5', '5 s', 'x'].map(durationMs), [undefined, undefined, undefined, undefined]);
});

test('Nodes of documents and of Lists are used unchanged; other kinds are named', () => {
  const list = { kind: 'List', items: [nodeObject('b'), nodeObject('c')] };
  const names = nodesFromDocuments([nodeObject('a'), null, list]).map(({ metadata }) => metadata.name);
  assert.deepEqual(names, ['a', 'b', 'c']);
  assert.throws(() => nodesFromDocuments([podObject('p')]), /found a Pod/);
  assert.throws(() => nodesFromDocuments([nodeObject('a'), nodeObject('a')]), /"a" occurs twice/);
});

const MISSHAPEN: [node: Record<string, unknown>, told: RegExp][] = [
  [{ spec: { taints: 7 } }, /node "n": spec\.taints is not a list of taints/],
  [{ spec: { taints: [{ key: 'x' }] } }, /spec\.taints/],
  [{ status: { conditions: { type: 'x' } } }, /status\.conditions/],
  [{ status: { allocatable: { cpu: 'lots' } } }, /status\.allocatable is not a map of quantities/],
  [{ status: 'fine' }, /status is not a map/],
  [{ metadata: { name: 'n', labels: { replicas: 5 } } }, /metadata\.labels is not a map of strings/],
];

for (const [parts, told] of MISSHAPEN) {
  test(`a Node with ${JSON.stringify(parts)} is rejected with the path`, () => {
    assert.throws(() => nodesFromDocuments([{ kind: 'Node', metadata: { name: 'n' }, ...parts }]), told);
  });
}

test('empty fields and fields of newer clusters are accepted', () => {
  const node = {
    ...{ kind: 'Node', metadata: { name: 'n', labels: null, surprise: true }, spec: { taints: null } },
    status: { nodeInfo: { swap: { capacity: 1 } }, allocatable: { cpu: 2 }, features: {} },
  };
  assert.equal(nodesFromDocuments([node]).length, 1);
});

test("a manifest's allocatable and conditions override the host's report, and a command overrides both", () => {
  const condition = (type: string, status: 'True' | 'False') => ({ type, status });
  const told = {
    allocatable: { cpu: '4' },
    conditions: [condition('Ready', 'True'), condition('DiskPressure', 'False')],
  };
  const plan = nodeObject('n', { cpu: '64', ready: 'False' });
  const status = statusFromTemplate(told, plan, [condition('DiskPressure', 'True')]);
  assert.equal(status.allocatable?.cpu, '64');
  assert.deepEqual(
    status.conditions?.map(({ type, status: value }) => `${type}=${value}`),
    ['Ready=False', 'DiskPressure=True'],
  );
});

test('a command names an action and its nodes; an invalid command is rejected with the reason', () => {
  assert.equal(parseCommand('  # nothing'), undefined);
  assert.equal(parseCommand('offline zone in (a,b)')?.kind, 'offline');
  const slow = parseCommand('slow 300ms *');
  assert.equal(slow?.kind === 'slow' && slow.delayMs, 300);
  const condition = parseCommand('condition DiskPressure=True node-3 # full');
  assert.equal(condition?.kind === 'condition' && condition.type, 'DiskPressure');
  for (const [line, why] of [
    ['explode *', /unknown command "explode"/],
    ['offline', /name the nodes/],
    ['slow fast *', /not a duration/],
    ['condition Ready *', /TYPE=/],
  ] as const) {
    assert.throws(() => parseCommand(line), why);
  }
});
