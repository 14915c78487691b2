/** Accepted names and conditions, after apiextensions-apiserver pkg/controller/status/naming_controller_test.go. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definitionStatus } from '../../../coordinator/decisions/custom-resources/definition-conditions.js';
import type { CustomResourceNames } from '../../../shared/kube/objects/custom-resource-definition.js';
import { widgetDefinition } from '../../harness/objects/definition-builder.js';

const NOW = '2026-01-01T00:00:00Z';
const NAMES: CustomResourceNames = {
  plural: 'widgets',
  singular: 'widget',
  kind: 'Widget',
  listKind: 'WidgetList',
};

function other(names: CustomResourceNames, group = 'example.com') {
  const definition = widgetDefinition([], { group, names });
  definition.status = { acceptedNames: names };
  return definition;
}

const texts = (status: ReturnType<typeof definitionStatus>) =>
  status.conditions?.map(({ type, status: value, reason, message }) =>
    [type, value, reason, message].join(' '),
  );

test('free names are accepted and the definition is established', () => {
  const status = definitionStatus(widgetDefinition([], { names: { ...NAMES, shortNames: ['w'] } }), [], NOW);
  assert.deepEqual(status.acceptedNames, { ...NAMES, shortNames: ['w'] });
  assert.deepEqual(texts(status), [
    'NamesAccepted True NoConflicts no conflicts found',
    'Established True InitialNamesAccepted the initial names have been accepted',
  ]);
});

const CONFLICTS: [taken: CustomResourceNames, reason: string, message: string][] = [
  [{ plural: 'widgets', kind: 'X' }, 'PluralConflict', '"widgets" is already in use'],
  [{ plural: 'x', singular: 'widget', kind: 'X' }, 'SingularConflict', '"widget" is already in use'],
  [{ plural: 'x', kind: 'X', shortNames: ['w'] }, 'ShortNamesConflict', '"w" is already in use'],
  [{ plural: 'x', kind: 'Widget' }, 'KindConflict', '"Widget" is already in use'],
  [{ plural: 'x', kind: 'WidgetList' }, 'ListKindConflict', '"WidgetList" is already in use'],
];
for (const [taken, reason, message] of CONFLICTS) {
  test(`${reason}: the definition is not established`, () => {
    const definition = widgetDefinition([], { names: { ...NAMES, shortNames: ['w'] } });
    assert.deepEqual(texts(definitionStatus(definition, [other(taken)], NOW)), [
      `NamesAccepted False ${reason} ${message}`,
      'Established False NotAccepted not all names are accepted',
    ]);
  });
}

test('names of another group are free', () => {
  const status = definitionStatus(widgetDefinition([]), [other(NAMES, 'other.example.com')], NOW);
  assert.equal(status.conditions?.[1]?.status, 'True');
});

test('an established definition stays established, with its old short name', () => {
  const definition = widgetDefinition([], { names: { ...NAMES, shortNames: ['y'] } });
  const conditions = [{ type: 'Established', status: 'True' as const, lastTransitionTime: 'before' }];
  definition.status = { acceptedNames: { ...NAMES, shortNames: ['w'] }, conditions };
  const status = definitionStatus(definition, [other({ plural: 'x', kind: 'X', shortNames: ['y'] })], NOW);
  assert.deepEqual(status.acceptedNames?.shortNames, ['w']);
  assert.equal(status.conditions?.find(({ type }) => type === 'Established')?.lastTransitionTime, 'before');
});

test('a second reconcile changes nothing', () => {
  const definition = widgetDefinition([]);
  const status = definitionStatus(definition, [], NOW);
  assert.deepEqual(definitionStatus({ ...definition, status }, [], 'later'), status);
});
