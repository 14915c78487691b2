/** Responses of paths that are no resources: discovery, OpenAPI, version, health. */
import type { ApiResponse } from '../http/api-context.js';
import { healthResponse } from '../http/health-checks.js';
import { parseMediaType, requireWholeObject } from '../http/media-type.js';
import type { PathRequest } from '../http/request-info.js';
import { methodNotAllowed, pathNotFound } from '../http/status-response.js';
import { allDefinitions } from '../openapi/all-definitions.js';
import { customDefinitions, customDefinitionsV2 } from '../openapi/custom-definitions.js';
import type { DocumentHeaders } from '../openapi/document-etag.js';
import { OpenApiV2 } from '../openapi/openapi-v2.js';
import { type KnownDocuments, openApiDocuments } from '../openapi/openapi-v3.js';
import type { LeadershipProof } from '../ports.js';
import {
  AGGREGATED_TYPE,
  aggregatedDiscovery,
  coreVersions,
  type DiscoveredResource,
  groupDocument,
  groupList,
  resourceList,
  rootPath,
} from './discovery-documents.js';
import type { ResourceTable } from './resource-table.js';
import { type TaggedDocument, taggedAnswer, taggedDocument } from './tagged-document.js';

/**
 * The Kubernetes release of this API. Helm compares charts' `kubeVersion` with it. kubectl warns if its own minor
 * version differs by more than one, so every supported kubectl must be within that range.
 */
const API_RELEASE = { major: '1', minor: '35', version: 'v1.35.0' };

/** Returns version.Info for `/version`. `program` is the coordinator's version, e.g. `0.1.0`. */
function versionInfo(program: string): object {
  return {
    major: API_RELEASE.major,
    minor: API_RELEASE.minor,
    gitVersion: `${API_RELEASE.version}+everynode.${program}`,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: 'none',
    compiler: 'none',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  };
}

function bytesOf(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}

interface DiscoveryForms {
  plain: Buffer;
  aggregated?: TaggedDocument;
}

type Documents = ReadonlyMap<string, DiscoveryForms>;

function discoveryDocuments(resources: readonly DiscoveredResource[]): Documents {
  const documents = new Map<string, DiscoveryForms>();
  documents.set('/api', {
    plain: bytesOf(coreVersions(resources)),
    aggregated: taggedDocument(aggregatedDiscovery(resources, true)),
  });
  documents.set('/apis', {
    plain: bytesOf(groupList(resources)),
    aggregated: taggedDocument(aggregatedDiscovery(resources, false)),
  });
  for (const { group, version } of resources) {
    const list = resourceList(resources, group, version);
    if (list) documents.set(rootPath({ group, version }), { plain: bytesOf(list) });
    const groupInfo = groupDocument(resources, group);
    if (groupInfo) documents.set(`/apis/${group}`, { plain: bytesOf(groupInfo) });
  }
  return documents;
}

function wantsAggregated(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((part) => {
    const { parameters } = parseMediaType(part);
    return parameters.as === 'APIGroupDiscoveryList' && parameters.v === 'v2';
  });
}

/** Returns the aggregated form if the client asks for it and the path has it, else the plain form. Throws 406. */
function discoveryAnswer(
  { plain, aggregated }: DiscoveryForms,
  { accept, ifNoneMatch }: DocumentHeaders,
): ApiResponse {
  if (aggregated && wantsAggregated(accept)) {
    return taggedAnswer(aggregated, ifNoneMatch, { 'content-type': AGGREGATED_TYPE });
  }
  requireWholeObject(accept);
  return { type: 'bytes', code: 200, bytes: plain, headers: aggregated ? { vary: 'Accept' } : {} };
}

const OPENAPI_V2_PATH = '/openapi/v2';
const OTHER_PATHS = new Set(['/version', OPENAPI_V2_PATH]);

/** The documents about all kinds. */
interface KindDocuments {
  discovery: Documents;
  openApi: ReturnType<typeof openApiDocuments>;
  openApiV2: OpenApiV2;
}

function kindDocuments(
  { rows, customResources }: ServedKinds,
  definitionsOfAll: ReturnType<typeof allDefinitions>,
  known: KnownDocuments,
): KindDocuments {
  const resources = rows.filter(({ isDiscovered }) => isDiscovered);
  const nameOf = ({ group, version, resource }: DiscoveredResource) => `${group}/${version}/${resource}`;
  const schemaNames = new Map(resources.map((row) => [nameOf(row), row.schema]));
  const definitions = { ...definitionsOfAll, ...customDefinitions(customResources) };
  return {
    discovery: discoveryDocuments(resources),
    openApi: openApiDocuments(resources, definitions, (resource) => schemaNames.get(nameOf(resource)), known),
    openApiV2: new OpenApiV2(resources, customDefinitionsV2(customResources)),
  };
}

type ServedKinds = Pick<ResourceTable, 'rows' | 'customResources' | 'changes'>;

/**
 * Builds all documents but OpenAPI v2 once, so that a response is a lookup, and again after a change of the custom
 * kinds. The returned function throws 404, 405, 406.
 */
export function createPathResponses(
  kinds: ServedKinds,
  programVersion: string,
  leadership?: LeadershipProof,
): (request: PathRequest, headers: DocumentHeaders) => ApiResponse | Promise<ApiResponse> {
  const definitions = allDefinitions();
  const known: KnownDocuments = new Map();
  let documents = kindDocuments(kinds, definitions, known);
  let changes = kinds.changes;
  const current = (): KindDocuments => {
    if (kinds.changes !== changes) documents = kindDocuments(kinds, definitions, known);
    changes = kinds.changes;
    return documents;
  };
  const version = bytesOf(versionInfo(programVersion));

  return (request, headers) => {
    const { method, path } = request;
    const health = healthResponse(request, leadership);
    const { discovery, openApi, openApiV2 } = current();
    const found = discovery.get(path);
    const document = path === '/openapi/v3' ? openApi.index : openApi.byPath.get(path);
    const isKnown = found || document || health || OTHER_PATHS.has(path);
    if (!isKnown) throw pathNotFound();
    if (method !== 'GET') throw methodNotAllowed();
    if (health) return health;
    if (path === OPENAPI_V2_PATH) return openApiV2.respond(headers);
    if (document) return taggedAnswer(document, headers.ifNoneMatch);
    if (found) return discoveryAnswer(found, headers);
    return { type: 'bytes', code: 200, bytes: version };
  };
}
