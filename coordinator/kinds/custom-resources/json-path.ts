/** The JSON paths of printer columns (client-go util/jsonpath), as far as definitions use them. */
import { isMap, memberOf, sameValue } from './schemas/json-values.js';

type Step = (values: readonly unknown[]) => unknown[];

const FIELD = /^\.?([A-Za-z_$@][\w$-]*|\*)/;
const ESCAPED_FIELD = /^\.((?:\\.|[^.[\]'"\s])+)/;
const QUOTED = /^\[(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)")\]/;
const INDEX = /^\[(-?\d+|\*)?\]/;
const SLICE = /^\[(-?\d*):(-?\d*)\]/;
const FILTER =
  /^\[\?\(\s*@((?:\.[\w$-]+|\['[^']*'\])+)\s*(?:(==|!=|<=|>=|<|>)\s*("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[\w.+-]+)\s*)?\)\]/;

function childrenOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isMap(value) ? Object.values(value) : [];
}

function field(name: string): Step {
  if (name === '*') return (values) => values.flatMap(childrenOf);
  return (values) =>
    values.flatMap((value) => {
      const member = isMap(value) ? memberOf(value, name) : undefined;
      return member === undefined ? [] : [member];
    });
}

function index(text: string | undefined): Step {
  if (text === undefined || text === '*') return (values) => values.flatMap(childrenOf);
  return (values) =>
    values.flatMap((value) => {
      const item = Array.isArray(value) ? value.at(Number(text)) : undefined;
      return item === undefined ? [] : [item];
    });
}

function slice(from: string, to: string): Step {
  const start = from === '' ? undefined : Number(from);
  const end = to === '' ? undefined : Number(to);
  return (values) => values.flatMap((value) => (Array.isArray(value) ? value.slice(start, end) : []));
}

function literal(text: string): unknown {
  if (/^['"]/.test(text)) return text.slice(1, -1).replaceAll(/\\(.)/g, '$1');
  if (text === 'true' || text === 'false') return text === 'true';
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}

function holds(left: unknown, operator: string, right: unknown): boolean {
  if (operator === '==') return sameValue(left, right);
  if (operator === '!=') return !sameValue(left, right);
  if (typeof left !== typeof right || (typeof left !== 'number' && typeof left !== 'string')) return false;
  const [a, b] = [left, right as typeof left];
  switch (operator) {
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    default:
      return a >= b;
  }
}

/** Without an operator, an item needs the field. */
function filter(path: Step[], operator: string | undefined, text: string | undefined): Step {
  const matches = (item: unknown) => {
    const found = run(path, item);
    if (operator === undefined || text === undefined) return found.length > 0;
    return found.length > 0 && holds(found[0], operator, literal(text));
  };
  return (values) => values.flatMap((value) => childrenOf(value).filter(matches));
}

/** Returns the next step and the rest of the text, or undefined for an unknown form. */
function readStep(text: string): [step: Step, length: number] | undefined {
  const quoted = QUOTED.exec(text);
  if (quoted) return [field((quoted[1] ?? quoted[2] ?? '').replaceAll(/\\(.)/g, '$1')), quoted[0].length];
  const indexed = INDEX.exec(text);
  if (indexed) return [index(indexed[1]), indexed[0].length];
  const sliced = SLICE.exec(text);
  if (sliced) return [slice(sliced[1] ?? '', sliced[2] ?? ''), sliced[0].length];
  const filtered = FILTER.exec(text);
  if (filtered) {
    const path = readSteps(filtered[1] ?? '');
    return path && [filter(path, filtered[2], filtered[3]), filtered[0].length];
  }
  const escaped = ESCAPED_FIELD.exec(text) ?? FIELD.exec(text);
  return escaped ? [field((escaped[1] ?? '').replaceAll(/\\(.)/g, '$1')), escaped[0].length] : undefined;
}

function readSteps(text: string): Step[] | undefined {
  const steps: Step[] = [];
  for (let rest = text === '.' ? '' : text; rest !== ''; ) {
    const read = readStep(rest);
    if (!read) return undefined;
    steps.push(read[0]);
    rest = rest.slice(read[1]);
  }
  return steps;
}

function run(steps: readonly Step[], value: unknown): unknown[] {
  return steps.reduce<unknown[]>((values, step) => step(values), [value]);
}

/** Returns a function that finds the values at a path, or undefined if the path cannot be parsed. */
export function parseJsonPath(text: string): ((value: unknown) => unknown[]) | undefined {
  const steps = readSteps(text);
  return steps && ((value) => run(steps, value));
}
