/** Accepted names and conditions of CustomResourceDefinitions (apiextensions-apiserver pkg/controller/status, establish). */
import {
  type CustomResourceDefinition,
  type CustomResourceNames,
  type DefinitionCondition,
  definitionCondition,
} from '../../../shared/kube/objects/custom-resource-definition.js';
import type { Timestamp } from '../../../shared/kube/objects/meta.js';

type Status = NonNullable<CustomResourceDefinition['status']>;

/** A definition, or a built-in kind in the form of one. */
interface NameHolder {
  spec: Pick<CustomResourceDefinition['spec'], 'group'>;
  status?: Pick<Status, 'acceptedNames'>;
}

/** Names that the other definitions of a group use. */
interface TakenNames {
  resources: ReadonlySet<string>;
  kinds: ReadonlySet<string>;
}

function takenNames(group: string, others: Iterable<NameHolder>): TakenNames {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { spec, status } of others) {
    const names = status?.acceptedNames;
    if (spec.group !== group || !names) continue;
    for (const name of [names.plural, names.singular, ...(names.shortNames ?? [])])
      if (name) resources.add(name);
    for (const name of [names.kind, names.listKind]) if (name) kinds.add(name);
  }
  return { resources, kinds };
}

function inUse(name: string): string {
  return `${JSON.stringify(name)} is already in use`;
}

/** One name of the spec: the accepted one, and why it is not accepted. */
interface Conflict {
  reason: string;
  message: string;
}

interface Accepted {
  names: CustomResourceNames;
  /** The last conflict found: it is the one that upstream reports. */
  conflict?: Conflict;
}

/** A name in conflict stays as it was accepted before. */
function acceptNames(
  wanted: CustomResourceNames,
  before: Partial<CustomResourceNames>,
  { resources, kinds }: TakenNames,
): Accepted {
  const names: Partial<CustomResourceNames> = { ...before };
  let conflict: Conflict | undefined;
  const accept = (
    field: 'plural' | 'singular' | 'kind' | 'listKind',
    taken: ReadonlySet<string>,
    reason: string,
  ) => {
    const name = wanted[field] ?? '';
    if (name !== before[field] && taken.has(name)) conflict = { reason, message: inUse(name) };
    else names[field] = name;
  };
  accept('plural', resources, 'PluralConflict');
  accept('singular', resources, 'SingularConflict');
  const shortNames = wanted.shortNames ?? [];
  const clashes = shortNames.filter((name) => !before.shortNames?.includes(name) && resources.has(name));
  if (clashes.length > 0) {
    const texts = clashes.map(inUse);
    const message = texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
    conflict = { reason: 'ShortNamesConflict', message };
  } else if (shortNames.length > 0) names.shortNames = shortNames;
  else delete names.shortNames;
  accept('kind', kinds, 'KindConflict');
  accept('listKind', kinds, 'ListKindConflict');
  if (wanted.categories?.length) names.categories = wanted.categories;
  else delete names.categories;
  const accepted = { plural: '', kind: '', ...names };
  return conflict ? { names: accepted, conflict } : { names: accepted };
}

/** Replaces a condition. The time changes with the status only. */
export function withCondition(
  conditions: readonly DefinitionCondition[],
  next: DefinitionCondition,
  now: Timestamp,
): DefinitionCondition[] {
  const before = conditions.find(({ type }) => type === next.type);
  const lastTransitionTime =
    before?.status === next.status && before.lastTransitionTime ? before.lastTransitionTime : now;
  const changed = { ...next, lastTransitionTime };
  return before
    ? conditions.map((condition) => (condition === before ? changed : condition))
    : [...conditions, changed];
}

function establishedCondition(
  definition: CustomResourceDefinition,
  hasConflict: boolean,
): DefinitionCondition {
  const before = definitionCondition(definition, 'Established');
  if (before?.status === 'True') return before;
  if (hasConflict) {
    if (before) return before;
    return {
      type: 'Established',
      status: 'False',
      reason: 'NotAccepted',
      message: 'not all names are accepted',
    };
  }
  return {
    ...{ type: 'Established', status: 'True', reason: 'InitialNamesAccepted' },
    message: 'the initial names have been accepted',
  };
}

/**
 * Returns the status of a definition among the others. Upstream establishes in a second write, after the endpoints are
 * installed; here they exist as soon as the status is stored.
 */
export function definitionStatus(
  definition: CustomResourceDefinition,
  others: Iterable<NameHolder>,
  now: Timestamp,
): Status {
  const { spec, status = {} } = definition;
  const { names, conflict } = acceptNames(
    spec.names,
    status.acceptedNames ?? {},
    takenNames(spec.group, others),
  );
  const accepted: DefinitionCondition = conflict
    ? { type: 'NamesAccepted', status: 'False', ...conflict }
    : { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' };
  const conditions = [accepted, establishedCondition(definition, conflict !== undefined)].reduce(
    (all, condition) => withCondition(all, condition, now),
    status.conditions ?? [],
  );
  return { ...status, acceptedNames: names, conditions };
}
