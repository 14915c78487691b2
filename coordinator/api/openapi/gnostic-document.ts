/**
 * Encodes the OpenAPI v2 document as gnostic's `openapi.v2.Document`, which kubectl and client-go request instead of
 * JSON. Fields that gnostic.proto does not list would be lost, so a test compares every key of the document with it.
 */
import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import type { DocumentV2 } from './document-v2.js';
import type { ParameterV2 } from './parameters-v2.js';
import type { OperationV2, PathItemV2 } from './paths-v2.js';
import type { SchemaV2 } from './schema-v2.js';

function named<T, R>(
  values: Readonly<Record<string, T>>,
  convert: (value: T) => R,
): { name: string; value: R }[] {
  return Object.entries(values).map(([name, value]) => ({ name, value: convert(value) }));
}

/** Returns the `x-` members. gnostic keeps them as YAML text, and JSON is YAML. */
function extensions(object: object): { vendor_extension?: object[] } {
  const found = Object.entries(object).filter(([key]) => key.startsWith('x-'));
  if (found.length === 0) return {};
  return { vendor_extension: named(Object.fromEntries(found), (value) => ({ yaml: JSON.stringify(value) })) };
}

function schemaMessage(schema: SchemaV2): object {
  const { $ref, type, format, description, required, properties, additionalProperties, items } = schema;
  return {
    ...($ref === undefined ? {} : { _ref: $ref }),
    ...{ format, description, required },
    ...(additionalProperties
      ? { additional_properties: { schema: schemaMessage(additionalProperties) } }
      : {}),
    ...(type === undefined ? {} : { type: { value: [type] } }),
    ...(items ? { items: { schema: [schemaMessage(items)] } } : {}),
    ...(properties ? { properties: { additional_properties: named(properties, schemaMessage) } } : {}),
    ...extensions(schema),
  };
}

function parameterMessage(parameter: Exclude<ParameterV2, { $ref: string }>): object {
  if (parameter.in === 'body') {
    const { schema, ...rest } = parameter;
    return { body_parameter: { ...rest, schema: schemaMessage(schema) } };
  }
  const { uniqueItems: unique_items, ...rest } = parameter;
  const member = parameter.in === 'path' ? 'path_parameter_sub_schema' : 'query_parameter_sub_schema';
  return { non_body_parameter: { [member]: { ...rest, unique_items } } };
}

function parameterItem(parameter: ParameterV2): object {
  if ('$ref' in parameter) return { json_reference: { _ref: parameter.$ref } };
  return { parameter: parameterMessage(parameter) };
}

function operationMessage(operation: OperationV2): object {
  const { operationId, parameters = [], responses, ...rest } = operation;
  const response_code = named(responses, ({ description, schema }) => ({
    response: { description, ...(schema ? { schema: { schema: schemaMessage(schema) } } : {}) },
  }));
  return {
    ...rest,
    operation_id: operationId,
    parameters: parameters.map(parameterItem),
    responses: { response_code },
    ...extensions(operation),
  };
}

function pathMessage({ parameters = [], ...operations }: PathItemV2): object {
  const methods = Object.entries(operations).map(([method, operation]) => [
    method,
    operationMessage(operation),
  ]);
  return { ...Object.fromEntries(methods), parameters: parameters.map(parameterItem) };
}

function documentMessage(document: DocumentV2): object {
  const { swagger, info, security, securityDefinitions } = document;
  return {
    ...{ swagger, info },
    paths: { path: named(document.paths, pathMessage) },
    definitions: { additional_properties: named(document.definitions, schemaMessage) },
    parameters: { additional_properties: named(document.parameters, parameterMessage) },
    security: security.map((requirement) => ({
      additional_properties: named(requirement, (value) => ({ value })),
    })),
    security_definitions: {
      additional_properties: named(securityDefinitions, (value) => ({ api_key_security: value })),
    },
  };
}

/** Returns the message type. It is not kept, because it is needed once. */
export function gnosticType(): protobuf.Type {
  const text = readFileSync(new URL('./gnostic.proto', import.meta.url), 'utf8');
  return protobuf.parse(text, { keepCase: true }).root.lookupType('openapi.v2.Document');
}

/** Returns the document as protobuf. */
export function encodeDocument(document: DocumentV2): Uint8Array {
  const type = gnosticType();
  return type.encode(documentMessage(document)).finish();
}
