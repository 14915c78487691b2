/** The part of an `openAPIV3Schema` that CEL reads. */

export interface ValidationRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
  fieldPath?: string;
  optionalOldSelf?: boolean;
}

export interface StructuralSchema {
  type?: string;
  format?: string;
  enum?: readonly unknown[];
  default?: unknown;
  nullable?: boolean;
  properties?: Readonly<Record<string, StructuralSchema>>;
  additionalProperties?: StructuralSchema | boolean;
  items?: StructuralSchema;
  required?: readonly string[];
  maxLength?: number;
  maxItems?: number;
  maxProperties?: number;
  allOf?: readonly StructuralSchema[];
  'x-kubernetes-validations'?: readonly ValidationRule[];
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: readonly string[];
  'x-kubernetes-map-type'?: string;
}

/** Returns the schema of the values of a map, if it is declared. */
export function valueSchema({ additionalProperties }: StructuralSchema): StructuralSchema | undefined {
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

const TEXT: StructuralSchema = { type: 'string' };

/** Adds the fields of an object that rules at the root of a resource can always read. */
export function withObjectMeta(schema: StructuralSchema): StructuralSchema {
  const metadata = { type: 'object', properties: { name: TEXT, generateName: TEXT } };
  return { ...schema, properties: { ...schema.properties, kind: TEXT, apiVersion: TEXT, metadata } };
}
