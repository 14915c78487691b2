/** Checks the type of a request body and completes it. Throws a 400 for a body of another type. */

import { badRequest } from '../../../shared/kube/objects/api-status.js';
import type { KubeObject, ObjectRef } from '../../../shared/kube/objects/meta.js';
import { apiVersionOf, type Kind } from '../../kinds/kind.js';
import { isJsonMap, type JsonMap } from '../encoding/json-value.js';

/** The type that a body must have. */
export interface BodyType {
  kind: string;
  apiVersion: string;
  /** Other versions of the kind that are accepted as well (upstream's `AcceptsGroupVersion`). */
  alsoAccepted?: readonly string[];
}

/**
 * Fills in an absent apiVersion or kind, as upstream's decoders do from the URL (`defaultGVK` in
 * apiserver pkg/endpoints/handlers). Throws a 400 for a body of another type.
 */
function completeTypeMeta(body: JsonMap, { kind, apiVersion, alsoAccepted = [] }: BodyType): void {
  const version = body.apiVersion || apiVersion;
  const named = body.kind || kind;
  if (version !== apiVersion && !alsoAccepted.some((accepted) => accepted === version)) {
    throw badRequest(
      `the API version in the data (${version}) does not match the expected API version (${apiVersion})`,
    );
  }
  if (named !== kind) {
    throw badRequest(undecodableText({ kind, apiVersion }, String(named), 'the kinds do not match'));
  }
  body.apiVersion = version;
  body.kind = kind;
}

/** Returns the type of bodies for this kind or subresource. */
export function bodyTypeOf(names: Pick<Kind, 'group' | 'version' | 'kind'>): BodyType {
  return { kind: names.kind, apiVersion: apiVersionOf(names) };
}

/** Returns the message of upstream's decoder for a body of another type. `sent` is the kind that the body names. */
export function undecodableText({ kind, apiVersion }: BodyType, sent: string, problem: string): string {
  const version = apiVersion.slice(apiVersion.lastIndexOf('/') + 1);
  return `${sent} in version "${version}" cannot be handled as a ${kind}: ${problem}`;
}

/** Returns `body` as a map of this type, with apiVersion and kind filled in. Throws a 400. */
export function readTyped(body: unknown, type: BodyType): JsonMap {
  if (!isJsonMap(body)) {
    throw badRequest(undecodableText(type, type.kind, 'the body is not a JSON object'));
  }
  completeTypeMeta(body, type);
  return body;
}

/**
 * Returns `body` itself, with apiVersion, kind and a metadata map filled in from the URL like upstream. Throws a 400.
 */
export function readBody(kind: Kind, body: unknown): JsonMap & { metadata: JsonMap } {
  const type = bodyTypeOf(kind);
  const read = readTyped(body, type);
  read.metadata ??= {};
  if (!isJsonMap(read.metadata)) {
    throw badRequest(undecodableText(type, kind.kind, 'metadata is not a JSON object'));
  }
  return read as JsonMap & { metadata: JsonMap };
}

/** Sets the namespace of the URL (`rest.EnsureObjectNamespaceMatchesRequestNamespace`). Throws a 400 for another. */
export function placeInNamespace(kind: Kind, object: KubeObject, namespace: string | undefined): void {
  const { metadata } = object;
  if (!kind.namespaced || namespace === undefined) return;
  if (metadata.namespace && metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  metadata.namespace = namespace;
}

/** Sets the name from the URL of an update if the body names none. Throws a 400 for another name. */
export function placeAtName(object: KubeObject, ref: ObjectRef): void {
  const { metadata } = object;
  if (metadata.name && metadata.name !== ref.name) {
    throw badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${ref.name})`,
    );
  }
  metadata.name = ref.name;
}
