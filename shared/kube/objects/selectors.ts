/** Label and field selectors as text (apimachinery labels.Parse, fields.ParseSelector), and LabelSelector. */
import { ownValue } from './label-syntax.js';

export interface LabelSelectorRequirement {
  key: string;
  operator: string;
  values?: string[];
}

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: LabelSelectorRequirement[];
}

export type Labels = Record<string, string>;

type Operator = 'in' | 'notin' | 'exists' | 'absent';

interface Requirement {
  key: string;
  operator: Operator;
  values: readonly string[];
}

/** A compiled selector. `empty` is true if it selects everything. */
export interface Matcher {
  matches(labels: Labels | undefined): boolean;
  readonly empty: boolean;
}

function meets(requirement: Requirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, requirement.key) ? labels[requirement.key] : undefined;
  switch (requirement.operator) {
    case 'in':
      return value !== undefined && requirement.values.includes(value);
    case 'notin':
      return value === undefined || !requirement.values.includes(value);
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
  }
}

function compile(requirements: readonly Requirement[]): Matcher {
  return {
    empty: requirements.length === 0,
    matches: (labels) => requirements.every((requirement) => meets(requirement, labels ?? {})),
  };
}

const STRUCTURED_OPERATORS: Record<string, Operator> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: 'absent',
};

/**
 * Compiles a workload's LabelSelector. An absent selector matches nothing, an empty one everything (meta/v1
 * LabelSelectorAsSelector). A requirement with an unknown operator matches nothing.
 */
export function compileLabelSelector(selector: LabelSelector | undefined | null): Matcher {
  if (!selector) return { empty: false, matches: () => false };
  const requirements: Requirement[] = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({
    key,
    operator: 'in',
    values: [value],
  }));
  for (const expression of selector.matchExpressions ?? []) {
    const operator = ownValue(STRUCTURED_OPERATORS, expression.operator);
    if (!operator) return { empty: false, matches: () => false };
    requirements.push({ key: expression.key, operator, values: expression.values ?? [] });
  }
  return compile(requirements);
}

/** An invalid selector. `message` is sent to the client. */
export class SelectorSyntaxError extends Error {}

const SET_FORM = /^([^\s=!,()]+)\s+(in|notin)\s*\(([^)]*)\)$/;
const EQUALITY_FORM = /^([^\s=!,()]+)\s*(==|=|!=)\s*([^\s=!,()]*)$/;
const KEY_FORM = /^(!?)\s*([^\s=!,()]+)$/;

function splitTopLevel(text: string): string[] {
  return text.match(/(?:[^,(]|\([^)]*\)?)+/g)?.map((part) => part.trim()) ?? [];
}

function parseRequirement(part: string, selector: string): Requirement {
  const set = SET_FORM.exec(part);
  if (set) {
    const values = (set[3] ?? '').split(',').map((value) => value.trim());
    return { key: set[1] ?? '', operator: set[2] === 'in' ? 'in' : 'notin', values };
  }
  const equality = EQUALITY_FORM.exec(part);
  if (equality) {
    const operator = equality[2] === '!=' ? 'notin' : 'in';
    return { key: equality[1] ?? '', operator, values: [equality[3] ?? ''] };
  }
  const key = KEY_FORM.exec(part);
  if (key) return { key: key[2] ?? '', operator: key[1] ? 'absent' : 'exists', values: [] };
  throw new SelectorSyntaxError(
    `unable to parse requirement: ${JSON.stringify(part)} in ${JSON.stringify(selector)}`,
  );
}

/** Compiles the text of `?labelSelector=`. Throws `SelectorSyntaxError`. */
export function parseLabelSelector(text: string): Matcher {
  return compile(splitTopLevel(text).map((part) => parseRequirement(part, text)));
}

/** One term of `?fieldSelector=`: `field=value` or `field!=value`. */
export interface FieldRequirement {
  field: string;
  value: string;
  negated: boolean;
}

/** Parses the text of `?fieldSelector=`. Throws `SelectorSyntaxError`. */
export function parseFieldSelector(text: string): FieldRequirement[] {
  return text
    .split(',')
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const match = /^\s*([^=!\s]+)\s*(==|=|!=)(.*)$/.exec(part);
      if (!match) throw new SelectorSyntaxError(`invalid selector: '${text}'; can't understand '${part}'`);
      return { field: match[1] ?? '', negated: match[2] === '!=', value: (match[3] ?? '').trim() };
    });
}
