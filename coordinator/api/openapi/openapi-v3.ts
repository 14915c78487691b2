/** OpenAPI v3: an index, and one document per group and version with the parts that clients read. */
import { type DiscoveredResource, rootPath } from '../discovery/discovery-documents.js';
import { type TaggedDocument, taggedDocument } from '../discovery/tagged-document.js';

interface OpenApiDocuments {
  /** `/openapi/v3`. */
  index: TaggedDocument;
  /** By path: `/openapi/v3/api/v1`, `/openapi/v3/apis/apps/v1` … */
  byPath: ReadonlyMap<string, TaggedDocument>;
}

/** Component schemas by name, e.g. `io.k8s.api.apps.v1.DaemonSet`. */
type Schemas = Readonly<Record<string, unknown>>;

const QUERY_STRING = { in: 'query', schema: { type: 'string' } };

/**
 * Returns the path of one object with its PATCH. Clients look for its parameters: `fieldValidation` means that the
 * server validates, `dryRun` that it supports dry runs.
 */
function objectPath(resource: DiscoveredResource): [string, object] {
  const { group, version, kind } = resource;
  const scope = resource.namespaced ? 'namespaces/{namespace}/' : '';
  const patch = {
    'x-kubernetes-action': 'patch',
    'x-kubernetes-group-version-kind': { group, version, kind },
    parameters: ['dryRun', 'fieldManager', 'fieldValidation', 'force'].map((name) => ({
      name,
      ...QUERY_STRING,
    })),
    responses: { 200: { description: 'OK' } },
  };
  return [`${rootPath(resource)}/${scope}${resource.resource}/{name}`, { patch }];
}

/** Returns these schemas and all that they reference by `$ref`. */
function reachable(schemas: Schemas, names: readonly string[]): Schemas {
  const found = new Map<string, unknown>();
  const visit = (name: string): void => {
    if (found.has(name) || !Object.hasOwn(schemas, name)) return;
    found.set(name, schemas[name]);
    const references = JSON.stringify(schemas[name]).matchAll(/"#\/components\/schemas\/([^"]+)"/g);
    for (const [, reference = ''] of references) visit(reference);
  };
  names.forEach(visit);
  return Object.fromEntries(found);
}

/** A document, and the resources that it describes. */
interface KnownDocument {
  members: readonly DiscoveredResource[];
  document: TaggedDocument;
}

/** Documents by path. A change of one custom kind must not encode those of all others again. */
export type KnownDocuments = Map<string, KnownDocument>;

function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}

/**
 * Builds all documents. `schemaOf` returns the schema name of a resource's objects, if they have a schema. Documents
 * whose resources are the same objects as before are taken from `known`, which is updated.
 */
export function openApiDocuments(
  resources: readonly DiscoveredResource[],
  schemas: Schemas,
  schemaOf: (resource: DiscoveredResource) => string | undefined,
  known: KnownDocuments = new Map(),
): OpenApiDocuments {
  const byPath = new Map<string, TaggedDocument>();
  for (const root of new Set(resources.map(rootPath))) {
    const members = resources.filter((resource) => rootPath(resource) === root);
    const path = `/openapi/v3${root}`;
    const before = known.get(path);
    if (before && isSame(before.members, members)) {
      byPath.set(path, before.document);
      continue;
    }
    const names = members.flatMap((resource) => schemaOf(resource) ?? []);
    const document = {
      openapi: '3.0.0',
      info: { title: 'Everynode', version: 'v1' },
      paths: Object.fromEntries(members.map(objectPath)),
      components: { schemas: reachable(schemas, names) },
    };
    const tagged = taggedDocument(document);
    known.set(path, { members, document: tagged });
    byPath.set(path, tagged);
  }
  for (const path of known.keys()) if (!byPath.has(path)) known.delete(path);
  const paths = [...byPath].map(([path, { etag }]) => {
    const hash = etag.replaceAll('"', '');
    return [path.replace('/openapi/v3/', ''), { serverRelativeURL: `${path}?hash=${hash}` }];
  });
  return { index: taggedDocument({ paths: Object.fromEntries(paths) }), byPath };
}
