/** apiextensions.k8s.io/v1 CustomResourceDefinition and the JSON schemas in it. */
import type { KubeObject, Timestamp } from './meta.js';

export const EXTENSIONS_GROUP = 'apiextensions.k8s.io';

/** Blocks the removal of a definition until its objects are deleted. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

/** A rule of `x-kubernetes-validations`. */
interface ValidationRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
  fieldPath?: string;
  optionalOldSelf?: boolean;
}

/** A structural OpenAPI v3 schema (`JSONSchemaProps`), as stored. */
export interface JsonSchema {
  type?: string;
  format?: string;
  title?: string;
  description?: string;
  default?: unknown;
  nullable?: boolean;
  enum?: readonly unknown[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  required?: readonly string[];
  properties?: Readonly<Record<string, JsonSchema>>;
  additionalProperties?: JsonSchema | boolean;
  items?: JsonSchema;
  allOf?: readonly JsonSchema[];
  anyOf?: readonly JsonSchema[];
  oneOf?: readonly JsonSchema[];
  not?: JsonSchema;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: readonly string[];
  'x-kubernetes-map-type'?: string;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-validations'?: readonly ValidationRule[];
}

export interface PrinterColumn {
  name: string;
  type: string;
  format?: string;
  description?: string;
  priority?: number;
  jsonPath: string;
}

export interface ScaleSubresource {
  specReplicasPath: string;
  statusReplicasPath: string;
  labelSelectorPath?: string;
}

export interface CustomResourceVersion {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: JsonSchema };
  subresources?: { status?: object; scale?: ScaleSubresource };
  additionalPrinterColumns?: readonly PrinterColumn[];
  selectableFields?: readonly { jsonPath: string }[];
}

export interface CustomResourceNames {
  plural: string;
  singular?: string;
  kind: string;
  listKind?: string;
  shortNames?: readonly string[];
  categories?: readonly string[];
}

export interface DefinitionCondition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  lastTransitionTime?: Timestamp;
  reason?: string;
  message?: string;
}

interface CustomResourceConversion {
  strategy: string;
  webhook?: {
    clientConfig?: {
      url?: string;
      caBundle?: string;
      service?: { name: string; namespace: string; path?: string; port?: number };
    };
    conversionReviewVersions?: readonly string[];
  };
}

export interface CustomResourceDefinition extends KubeObject {
  spec: {
    group: string;
    names: CustomResourceNames;
    scope: string;
    versions: CustomResourceVersion[];
    conversion?: CustomResourceConversion;
    preserveUnknownFields?: boolean;
  };
  status?: {
    acceptedNames?: CustomResourceNames;
    conditions?: DefinitionCondition[];
    storedVersions?: string[];
  };
}

/** Returns the condition of this type. */
export function definitionCondition(
  { status }: CustomResourceDefinition,
  type: string,
): DefinitionCondition | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}

/** True if the resources of the definition are served. */
export function isEstablished(definition: CustomResourceDefinition): boolean {
  return definitionCondition(definition, 'Established')?.status === 'True';
}
