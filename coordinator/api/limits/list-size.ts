/** How much a list has to read, asked of the store's index rather than found out by reading it. */
import type { Kind } from '../../kinds/kind.js';
import type { Registry } from '../../registry/registry.js';
import type { ResourceRequest } from '../http/request-info.js';

/** A field selector by which one object is read, not the kind. */
const BY_NAME = /(^|,)metadata\.name==?[^,]/;

/** How many objects a page of a list, or the initial events of a watch, goes through. */
export async function objectsToRead(
  registry: Registry,
  kind: Kind,
  { query, namespace }: Pick<ResourceRequest, 'query' | 'namespace'>,
  limit = Number.POSITIVE_INFINITY,
): Promise<number> {
  const fieldSelector = query.get('fieldSelector') ?? '';
  if (BY_NAME.test(fieldSelector)) return 1;
  // A selector may have to look at everything to fill one page.
  const isFiltered = fieldSelector !== '' || Boolean(query.get('labelSelector'));
  const scope = namespace === undefined ? {} : { namespace };
  const { records, remainingItemCount = 0 } = await registry.list(kind, { ...scope, limit: 1 });
  const stored = records.length + remainingItemCount;
  return isFiltered ? stored : Math.min(stored, limit);
}
