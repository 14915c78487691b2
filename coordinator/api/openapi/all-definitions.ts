/** The schemas of both OpenAPI documents. */
import { type DescribedSchema, describedDefinitions } from '../../kinds/schema/described-definitions.js';
import { unsupportedDefinitions } from '../../kinds/unsupported-kinds.js';

/** Returns all definitions by name, with descriptions. */
export function allDefinitions(): Readonly<Record<string, DescribedSchema>> {
  return { ...describedDefinitions(), ...unsupportedDefinitions() };
}
