/** Decodes request bodies: JSON, YAML, Kubernetes' protobuf for the few kinds that clients send so. */
import { ApiError, badRequest } from '../../../shared/kube/objects/api-status.js';
import { parseMediaType } from '../http/media-type.js';
import { decodeProtobuf } from './protobuf-body.js';
import { type RepeatedKey, repeatedKeysOfJson } from './repeated-keys.js';
import { parseYamlText } from './yaml-body.js';

/** 3 MiB, upstream's limit for a request. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;
/** No Kubernetes object comes near; what recurses over a body stays far from the end of the stack. */
export const MAX_NESTING = 200;
/** The YAML parser takes seconds for a megabyte; kubectl and helm send JSON, so this is for manifests sent by hand. */
export const MAX_YAML_BYTES = 128 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/** The greatest depth of `[` and `{` outside of strings; stops counting above `limit`. */
export function nestingDepth(bytes: Uint8Array, limit: number): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < bytes.length && deepest <= limit; at += 1) {
    const byte = bytes[at] ?? 0;
    if (inString && byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) inString = !inString;
    else if (inString) continue;
    else if (OPENING.has(byte)) deepest = Math.max(deepest, ++depth);
    else if (CLOSING.has(byte)) depth -= 1;
  }
  return deepest;
}

function refuseDepth(): never {
  throw badRequest(`the body is nested more than ${MAX_NESTING} levels deep`);
}

function parseJson(bytes: Buffer): DecodedBody {
  if (nestingDepth(bytes, MAX_NESTING) > MAX_NESTING) refuseDepth();
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return { value, syntax: 'json', repeatedKeys: () => repeatedKeysOfJson(bytes) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw badRequest(`the body of the request is not valid JSON: ${why}`);
  }
}

/** Two columns a level: an indentation, or a run of `- ` and `? ` that each open a level on one line. */
const DEEP_LINE = new RegExp(`^[ \\t?:-]{${2 * MAX_NESTING}}`, 'm');

/** Before parsing: the parser recurses, and deep in the stack a failure of its regular expressions ends the process. */
function refuseDeepYaml(text: string): void {
  const brackets = nestingDepth(Buffer.from(text.replaceAll('"', '')), MAX_NESTING);
  if (brackets > MAX_NESTING || DEEP_LINE.test(text)) refuseDepth();
}

function parseYamlBody(bytes: Buffer): DecodedBody {
  // What starts like JSON is JSON: server-side apply sends it under a YAML type.
  if (/^\s*\{/.test(bytes.toString('latin1', 0, 64))) return parseJson(bytes);
  if (bytes.length > MAX_YAML_BYTES) throw tooLarge(`limit for YAML is ${MAX_YAML_BYTES}`);
  const text = bytes.toString('utf8');
  refuseDeepYaml(text);
  try {
    return { ...parseYamlText(text), syntax: 'yaml' };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw badRequest(`the body of the request is not valid YAML: ${why}`);
  }
}

const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** 413 `Request entity too large: …`. */
function tooLarge(limit: string): ApiError {
  return new ApiError('RequestEntityTooLarge', `Request entity too large: ${limit}`);
}

/** 415 in upstream's words (`pkg/endpoints/handlers/negotiation/errors.go`). */
export function unsupportedMediaType(supported: readonly string[]): ApiError {
  return new ApiError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${supported.join(', ')}`,
  );
}

/** A body and how it was written. */
export interface DecodedBody {
  value: unknown;
  syntax: 'json' | 'yaml' | 'protobuf';
  /** Keys that the text names twice in one object, of which `value` has the last. Reads the whole body again. */
  repeatedKeys: () => RepeatedKey[];
}

/** The body as it was written, or undefined when there is none. No type named means JSON. Throws 400, 413, 415. */
export function readBody(
  bytes: Buffer | undefined,
  contentType: string | undefined,
): DecodedBody | undefined {
  if (!bytes || bytes.length === 0) return undefined;
  const { type } = parseMediaType(contentType ?? 'application/json');
  switch (type) {
    case 'application/json':
    case 'application/json-patch+json':
    case 'application/merge-patch+json':
    case 'application/strategic-merge-patch+json':
    case '*/*':
      return parseJson(bytes);
    case 'application/yaml':
    case 'application/apply-patch+yaml':
      return parseYamlBody(bytes);
    case PROTOBUF:
      return { value: decodeProtobuf(bytes), syntax: 'protobuf', repeatedKeys: () => [] };
    default:
      throw unsupportedMediaType(['application/json', 'application/yaml', PROTOBUF]);
  }
}

/** The value of a body, or undefined when there is none. Throws as `readBody`. */
export function decodeBody(bytes: Buffer | undefined, contentType: string | undefined): unknown {
  return readBody(bytes, contentType)?.value;
}
