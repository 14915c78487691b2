/** What a client sent, as an object of the kind it was sent for; refuses with 400 what it cannot be. */
import type { KubeObject, ObjectRef } from '../../shared/kube/meta.js';
import { badRequest } from '../../shared/kube/status.js';
import { apiVersionOf, type Kind } from '../kinds/kind.js';
import { isJsonMap, type JsonMap } from './json-value.js';

function readTypeMeta(kind: Kind, body: JsonMap): void {
  const expected = apiVersionOf(kind);
  const apiVersion = body.apiVersion || expected;
  const named = body.kind || kind.kind;
  if (apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  if (named !== kind.kind) {
    throw badRequest(undecodableText(kind, String(named), 'the kinds do not match'));
  }
  body.apiVersion = expected;
  body.kind = kind.kind;
}

/** What upstream's decoder says of a body that is none of this kind; `sent` is the kind that it names. */
export function undecodableText(kind: Kind, sent: string, problem: string): string {
  return `${sent} in version "${kind.version}" cannot be handled as a ${kind.kind}: ${problem}`;
}

/**
 * `body` itself, known to have apiVersion, kind and a metadata map; absent ones are filled in, the type names
 * as upstream does by the URL. Throws a 400.
 */
export function readBody(kind: Kind, body: unknown): JsonMap & { metadata: JsonMap } {
  if (!isJsonMap(body)) {
    throw badRequest(undecodableText(kind, kind.kind, 'the body is not a JSON object'));
  }
  readTypeMeta(kind, body);
  body.metadata ??= {};
  if (!isJsonMap(body.metadata)) {
    throw badRequest(undecodableText(kind, kind.kind, 'metadata is not a JSON object'));
  }
  return body as JsonMap & { metadata: JsonMap };
}

/** Takes the namespace from the URL where the body names none; refuses another one (`rest.EnsureObjectNamespaceMatchesRequestNamespace`). */
export function placeInNamespace(kind: Kind, object: KubeObject, namespace: string | undefined): void {
  const { metadata } = object;
  if (!kind.namespaced || namespace === undefined) return;
  if (metadata.namespace && metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  metadata.namespace = namespace;
}

/** The same for the name in the URL of an update. */
export function placeAtName(object: KubeObject, ref: ObjectRef): void {
  const { metadata } = object;
  if (metadata.name && metadata.name !== ref.name) {
    throw badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${ref.name})`,
    );
  }
  metadata.name = ref.name;
}
