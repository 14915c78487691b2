/** The `kubectl get` columns of custom resources (apiextensions-apiserver pkg/registry/customresource/tableconvertor). */
import type {
  CustomResourceVersion,
  PrinterColumn,
} from '../../../shared/kube/objects/custom-resource-definition.js';
import type { KubeObject } from '../../../shared/kube/objects/meta.js';
import { ageText } from '../duration-text.js';
import type { Column } from '../kind.js';
import { NAME_COLUMN } from '../table-column.js';
import { parseJsonPath } from './json-path.js';

type Cell = ReturnType<Column<KubeObject>['cell']>;

const DEFAULT_COLUMN: PrinterColumn = {
  name: 'Age',
  type: 'date',
  description: 'Time at which the server stored the object first.',
  jsonPath: '.metadata.creationTimestamp',
};

function cellOf(type: string, value: unknown, now: number): Cell {
  switch (type) {
    case 'string':
      return typeof value === 'object' ? JSON.stringify(value) : String(value);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      if (typeof value !== 'string') return null;
      return Number.isNaN(Date.parse(value)) ? '<invalid>' : ageText(value, now);
    default:
      return null;
  }
}

function columnOf({
  name,
  type,
  format,
  description,
  priority,
  jsonPath,
}: PrinterColumn): Column<KubeObject> {
  const find = parseJsonPath(jsonPath);
  return {
    name,
    type: type as Column<KubeObject>['type'],
    ...(format ? { format } : {}),
    description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    priority: priority ?? 0,
    cell: (object, now) => {
      const value = find?.(object)[0];
      return value === undefined || value === null ? null : cellOf(type, value, now);
    },
  };
}

/** Returns the columns of a version. Without printer columns there are Name and Age. */
export function printerColumns({
  additionalPrinterColumns = [],
}: CustomResourceVersion): readonly Column<KubeObject>[] {
  const columns = additionalPrinterColumns.length > 0 ? additionalPrinterColumns : [DEFAULT_COLUMN];
  // An unknown path makes upstream show the name alone.
  if (columns.some(({ jsonPath }) => !parseJsonPath(jsonPath))) return [NAME_COLUMN];
  return [NAME_COLUMN, ...columns.map(columnOf)];
}
