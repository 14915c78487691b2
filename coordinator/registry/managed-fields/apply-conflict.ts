/** The 409 of an apply that would take fields from other managers (`managedfields/internal/conflict.go`). */
import { ApiError, type StatusCause } from '../../../shared/kube/objects/api-status.js';
import type { ApplyConflict } from './apply-fields.js';
import type { ManagerName } from './field-managers.js';
import { pathsOf } from './field-set.js';
import { pathText } from './path-element.js';

/** `"kubectl" using apps/v1`, `"helm"`, `"x" with subresource "status" using v1`. */
function ownerText({ manager, operation, subresource }: ManagerName, apiVersion: string): string {
  const name = subresource ? `"${manager}" with subresource "${subresource}"` : `"${manager}"`;
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
}

/** Returns the 409 with one cause per field, in kubectl's wording. `conflicts` is not empty. */
export function applyConflict(conflicts: readonly ApplyConflict[], apiVersion: string): ApiError {
  const owners = conflicts.map(({ owner, fields }) => ({
    name: ownerText(owner, apiVersion),
    fields: [...pathsOf(fields)].map(pathText),
  }));
  const causes = owners.flatMap(({ name, fields }) =>
    fields.map(
      (field): StatusCause => ({ reason: 'FieldManagerConflict', message: `conflict with ${name}`, field }),
    ),
  );
  return new ApiError('Conflict', messageOf(owners, causes), { causes });
}

function messageOf(
  owners: readonly { name: string; fields: string[] }[],
  causes: readonly StatusCause[],
): string {
  const [only, ...others] = causes;
  if (only && others.length === 0) return `Apply failed with 1 conflict: ${only.message}: ${only.field}`;
  const lines = owners.flatMap(({ name, fields }) => [
    `conflicts with ${name}:`,
    ...fields.map((field) => `- ${field}`),
  ]);
  return `Apply failed with ${causes.length} conflicts: ${lines.join('\n')}`;
}
