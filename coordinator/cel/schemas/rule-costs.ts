/** Limits of the estimated costs of a CustomResourceDefinition (apiextensions validation.go, cel_validation.go). */
import type { FieldError } from '../../kinds/kind.js';
import { forbidden } from '../../kinds/validation/field-error.js';

/** StaticEstimatedCostLimit. */
export const EXPRESSION_COST_LIMIT = 10_000_000;
/** StaticEstimatedCRDCostLimit. */
const SCHEMA_COST_LIMIT = 100_000_000;
/** Expressions below one percent of the limit are not named. */
const NAMED_COST = SCHEMA_COST_LIMIT / 100;
const MOST_NAMED = 4;

export function costText(name: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? 'more than 100x' : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`;
  return `${name} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

/** Adds up the costs of all expressions of a schema. */
export class RuleCosts {
  #total = 0;
  #most: { path: string; cost: number }[] = [];

  observe(path: string, cost: number): void {
    this.#total += cost;
    if (cost < NAMED_COST) return;
    this.#most = [...this.#most, { path, cost }].sort((a, b) => b.cost - a.cost).slice(0, MOST_NAMED);
  }

  /** Returns errors if the sum is too large: for the schema, and for its most expensive expressions. */
  totalErrors(path: string): FieldError[] {
    if (this.#total <= SCHEMA_COST_LIMIT) return [];
    const named = this.#most.map((each) =>
      forbidden(
        each.path,
        costText(
          'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
          each.cost,
          SCHEMA_COST_LIMIT,
        ),
      ),
    );
    const text = costText(
      'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema',
      this.#total,
      SCHEMA_COST_LIMIT,
    );
    return [...named, forbidden(path, text)];
  }
}
