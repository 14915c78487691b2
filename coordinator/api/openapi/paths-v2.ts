/** Paths and operations of the OpenAPI v2 document. */
import type { Subresource } from '../../kinds/kind.js';
import { type DiscoveredResource, rootPath } from '../discovery/discovery-documents.js';
import { operationId, operationTag } from './operation-names.js';
import {
  bodyParameter,
  DRY_RUN,
  LIST_PARAMETERS,
  type ParameterV2,
  pathParameter,
  shared,
} from './parameters-v2.js';
import { definitionRef, type SchemaV2 } from './schema-v2.js';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const DELETE_OPTIONS = `${META}.DeleteOptions`;
const STATUS = `${META}.Status`;
/** Body of a PATCH of any type. */
export const PATCH_DEFINITION = `${META}.Patch`;

const JSON_TYPE = 'application/json';
const PATCH_TYPES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];
/**
 * kubectl sends a strategic merge patch if this document lists it, and a custom kind answers it with 415: its schema has
 * no merge keys (apiextensions-apiserver pkg/controller/openapi/builder).
 */
const CUSTOM_PATCH_TYPES = PATCH_TYPES.filter((type) => type !== 'application/strategic-merge-patch+json');

/** A resource, with the name of its definition if it has one. */
export type DocumentedResource = DiscoveredResource & { readonly schema?: string };

interface ResponseV2 {
  description: string;
  schema?: SchemaV2;
}

export interface OperationV2 {
  description: string;
  consumes: readonly string[];
  produces: readonly string[];
  schemes: readonly string[];
  tags: readonly string[];
  operationId: string;
  parameters?: readonly ParameterV2[];
  responses: Readonly<Record<string, ResponseV2>>;
  'x-kubernetes-action': string;
  'x-kubernetes-group-version-kind': { group: string; version: string; kind: string };
}

type Method = 'get' | 'put' | 'post' | 'delete' | 'patch';
export type PathItemV2 = { readonly parameters?: readonly ParameterV2[] } & Partial<
  Record<Method, OperationV2>
>;

/** How a verb appears in the document. */
interface VerbRule {
  method: Method;
  /** Value of `x-kubernetes-action`. */
  action: string;
  /** First word of the operationId, and of the description. */
  name: string;
  parameters: (bodyDefinition: string | undefined) => readonly ParameterV2[];
  /** Status codes of success. */
  codes: readonly number[];
}

const WRITE = [DRY_RUN, ...shared('fieldManager', 'fieldValidation')];
const DELETE = [
  bodyParameter(DELETE_OPTIONS, false),
  DRY_RUN,
  ...shared('gracePeriodSeconds', 'orphanDependents', 'propagationPolicy'),
];

const RULES: Readonly<Record<string, VerbRule>> = {
  get: { method: 'get', action: 'get', name: 'read', parameters: () => [], codes: [200] },
  list: { method: 'get', action: 'list', name: 'list', parameters: () => LIST_PARAMETERS, codes: [200] },
  create: {
    ...{ method: 'post', action: 'post', name: 'create', codes: [200, 201, 202] },
    parameters: (definition) => [bodyParameter(definition, true), ...WRITE],
  },
  update: {
    ...{ method: 'put', action: 'put', name: 'replace', codes: [200, 201] },
    parameters: (definition) => [bodyParameter(definition, true), ...WRITE],
  },
  patch: {
    ...{ method: 'patch', action: 'patch', name: 'patch', codes: [200, 201] },
    parameters: () => [bodyParameter(PATCH_DEFINITION, true), ...WRITE, ...shared('force')],
  },
  delete: { method: 'delete', action: 'delete', name: 'delete', parameters: () => DELETE, codes: [200, 202] },
  deletecollection: {
    ...{ method: 'delete', action: 'deletecollection', name: 'delete', codes: [200] },
    parameters: () => [...DELETE, ...LIST_PARAMETERS],
  },
};

const CODE_TEXTS: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' };
const COLLECTION_VERBS: ReadonlySet<string> = new Set(['list', 'create', 'deletecollection']);
/** Subresources that take over the connection. Their verbs are `connect` in upstream's documents. */
const CONNECT_SUBRESOURCES: ReadonlySet<string> = new Set(['attach', 'exec', 'portforward', 'proxy']);

/** One verb of a resource or subresource. */
interface Place {
  resource: DocumentedResource;
  /** True if a CustomResourceDefinition defines the resource. */
  isCustom: boolean;
  verb: string;
  subresource?: string;
  /** The subresource's kind, if it is not the resource's. */
  served?: Pick<Subresource, 'group' | 'version' | 'kind'>;
  isAcrossNamespaces?: boolean;
}

/** Returns the definition of the object that the operation receives and returns. */
function objectDefinition({ resource, served }: Place): string | undefined {
  if (!served || served.kind === resource.kind) return resource.schema;
  return served.kind === 'Eviction' ? 'io.k8s.api.policy.v1.Eviction' : undefined;
}

function responseDefinition(place: Place): string | undefined {
  const { verb, resource } = place;
  if (verb === 'list') return resource.schema && `${resource.schema}List`;
  return verb === 'delete' || verb === 'deletecollection' ? STATUS : objectDefinition(place);
}

function responses(place: Place, codes: readonly number[]): OperationV2['responses'] {
  const definition = responseDefinition(place);
  const schema = definition === undefined ? {} : { schema: definitionRef(definition) };
  const succeeded = codes.map((code): [string, ResponseV2] => [
    String(code),
    { description: CODE_TEXTS[code] ?? '', ...schema },
  ]);
  return { ...Object.fromEntries(succeeded), 401: { description: 'Unauthorized' } };
}

function operation(place: Place, rule: VerbRule): OperationV2 {
  const { resource, subresource, served = resource, isAcrossNamespaces = false } = place;
  const patchTypes = place.isCustom ? CUSTOM_PATCH_TYPES : PATCH_TYPES;
  const isConnect = CONNECT_SUBRESOURCES.has(subresource ?? '');
  const method = rule.method.charAt(0).toUpperCase() + rule.method.slice(1);
  const infix = isConnect ? method : place.verb === 'deletecollection' ? 'Collection' : '';
  const action = isConnect ? 'connect' : rule.name;
  const parameters = isConnect ? [] : rule.parameters(objectDefinition(place));
  const { group, version, kind } = served;
  return {
    description: `${action} ${subresource ? `${subresource} of ` : ''}${resource.kind}`,
    consumes: rule.method === 'patch' ? patchTypes : ['*/*'],
    produces: subresource === 'log' ? ['text/plain'] : [JSON_TYPE],
    schemes: ['https'],
    tags: [operationTag(resource)],
    operationId: operationId(resource, {
      ...{ action, infix, isAcrossNamespaces },
      ...(subresource === undefined ? {} : { subresource }),
    }),
    ...(parameters.length > 0 ? { parameters } : {}),
    responses: responses(place, rule.codes),
    'x-kubernetes-action': isConnect ? 'connect' : rule.action,
    'x-kubernetes-group-version-kind': { group, version, kind },
  };
}

/** Returns the operations of these verbs by method. `watch` has none: it is the parameter `watch` of a list. */
function operations(verbs: readonly string[], place: Omit<Place, 'verb'>): Partial<PathItemV2> {
  return Object.fromEntries(
    verbs.flatMap((verb) => {
      const rule = RULES[verb];
      return rule ? [[rule.method, operation({ ...place, verb }, rule)]] : [];
    }),
  );
}

function pathItem(
  verbs: readonly string[],
  place: Omit<Place, 'verb'>,
  parameters: readonly ParameterV2[],
): PathItemV2 {
  return { ...operations(verbs, place), ...(parameters.length > 0 ? { parameters } : {}) };
}

/** Returns the paths of a resource and its subresources. */
export function resourcePaths(resource: DocumentedResource, isCustom: boolean): [string, PathItemV2][] {
  const source = { resource, isCustom };
  const root = rootPath(resource);
  const { namespaced, verbs } = resource;
  const collection = `${root}/${namespaced ? 'namespaces/{namespace}/' : ''}${resource.resource}`;
  const inNamespace = namespaced ? [pathParameter('namespace', 'Namespace of the object.')] : [];
  const named = [pathParameter('name', `Name of the ${resource.kind}.`), ...inNamespace];
  const ofCollection = verbs.filter((verb) => COLLECTION_VERBS.has(verb));
  const ofObject = verbs.filter((verb) => !COLLECTION_VERBS.has(verb));
  const paths: [string, PathItemV2][] = [
    [collection, pathItem(ofCollection, source, inNamespace)],
    [`${collection}/{name}`, pathItem(ofObject, source, named)],
  ];
  if (namespaced && verbs.includes('list')) {
    const item = pathItem(['list'], { ...source, isAcrossNamespaces: true }, []);
    paths.push([`${root}/${resource.resource}`, item]);
  }
  for (const [subresource, served] of Object.entries(resource.subresources)) {
    const item = pathItem(served.verbs, { ...source, subresource, served }, named);
    paths.push([`${collection}/{name}/${subresource}`, item]);
  }
  return paths.filter(([, item]) => Object.keys(item).some((key) => key !== 'parameters'));
}
