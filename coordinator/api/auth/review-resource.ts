/** Resources that are asked and never stored: their create is a question, their status the answer. */
import type { DiscoveredResource } from '../discovery/discovery-documents.js';

/** What discovery says of a review of that kind. */
export function reviewResource(group: string, kind: string, namespaced = false): DiscoveredResource {
  return {
    group,
    version: 'v1',
    kind,
    resource: `${kind.toLowerCase()}s`,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    namespaced,
    verbs: ['create'],
    subresources: {},
  };
}
