/** Verbs in the order in which upstream's discovery names them. */

/** All verbs of a resource with a collection. */
export const STANDARD_VERBS = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
] as const;

/** Verbs of a `/status` subresource. */
export const STATUS_VERBS = ['get', 'patch', 'update'] as const;
