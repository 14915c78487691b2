/**
 * Validates the Node status that a host reports, by the rules of a status update through the API. A value that clients
 * cannot decode, such as the quantity `NaN`, would break `kubectl get nodes` and `kubectl top nodes` for all users.
 */
import type { NodeStatus } from '../../../shared/kube/nodes/node-types.js';
import { ownValue } from '../../../shared/kube/objects/label-syntax.js';
import { nodeKind } from '../../kinds/index.js';
import { checkFields } from '../../kinds/schema/check-fields.js';

interface CheckedStatus {
  status: NodeStatus;
  problems: string[];
}

type Field = keyof NodeStatus;

/** More than any host has. Checking a thousand invalid values singly would block for 0.2 s per report. */
const MOST_RESOURCES = 64;

/**
 * Returns the reported status without invalid values. In resource maps the stored value replaces an invalid one.
 * Invalid list items and an invalid `nodeInfo` are dropped.
 */
export function checkedNodeStatus(reported: NodeStatus, stored: NodeStatus | undefined): CheckedStatus {
  if (problemsOf(reported).length === 0) return { status: reported, problems: [] };
  const problems: string[] = [];
  const checked = (Object.keys(reported) as Field[]).map((field) => [
    field,
    checkedField(reported, stored, field, problems),
  ]);
  return { status: Object.fromEntries(checked.filter(([, value]) => value !== undefined)), problems };
}

function checkedField(
  reported: NodeStatus,
  stored: NodeStatus | undefined,
  field: Field,
  problems: string[],
): unknown {
  const value: unknown = reported[field];
  const isFine = (part: unknown, place: string): boolean => {
    const [problem] = problemsOf({ [field]: part });
    if (problem !== undefined) problems.push(`status.${field}${place}: ${problem}`);
    return problem === undefined;
  };
  if (Array.isArray(value)) return validItems(value, isFine);
  if (field === 'capacity' || field === 'allocatable') {
    if (Object.keys(value ?? {}).length > MOST_RESOURCES) {
      problems.push(
        `status.${field}: invalid, and more than ${MOST_RESOURCES} resources to check one by one`,
      );
      return stored?.[field];
    }
    return validEntries(reported[field] ?? {}, stored?.[field] ?? {}, isFine);
  }
  return isFine(value, '') ? value : undefined;
}

/** Checks each item together with the accepted items before it, because some rules compare items. */
function validItems(items: readonly unknown[], isFine: (part: unknown, place: string) => boolean): unknown[] {
  const kept: unknown[] = [];
  for (const [index, item] of items.entries()) if (isFine([...kept, item], `[${index}]`)) kept.push(item);
  return kept;
}

function validEntries<T>(
  reported: Readonly<Record<string, T>>,
  stored: Readonly<Record<string, T>>,
  isFine: (part: unknown, place: string) => boolean,
): Record<string, T> {
  const entries = Object.entries(reported).flatMap(([name, value]): [string, T][] => {
    if (isFine({ [name]: value }, `[${JSON.stringify(name)}]`)) return [[name, value]];
    const before = ownValue(stored, name);
    return before === undefined ? [] : [[name, before]];
  });
  return Object.fromEntries(entries);
}

/** Returns the reasons for which the API would refuse this status update. */
function problemsOf(status: object): string[] {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node' }, status } as const;
  const { strictFindings, typeErrors } = checkFields(nodeKind.schema, node);
  const errors = nodeKind.validateStatusUpdate?.(node, node) ?? [];
  return [...typeErrors, ...strictFindings, ...errors.map(({ message }) => message)];
}
