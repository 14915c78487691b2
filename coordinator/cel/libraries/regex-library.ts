/** Regular expressions run on RE2: a pattern of a user cannot take exponential time. */
import { RE2JS } from 're2js';
import { exactly, plus, REGEX_FACTOR, STRING_FACTOR, scaled, times } from '../language/cel-cost.js';
import { CelError } from '../language/cel-error.js';
import { type CallCost, type Overload, overload, sizeCost } from '../language/overload.js';

/** Compiled patterns. Rules use few of them, again and again. */
const compiled = new Map<string, RE2JS>();
const MAX_COMPILED = 256;

function compile(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known) return known;
  let regex: RE2JS;
  try {
    regex = RE2JS.compile(pattern);
  } catch (error) {
    throw new CelError(`Illegal regex: ${(error as Error).message}`);
  }
  if (compiled.size >= MAX_COMPILED) compiled.clear();
  compiled.set(pattern, regex);
  return regex;
}

function findAll(text: string, pattern: string, limit: bigint): string[] {
  const matcher = compile(pattern).matcher(text);
  const found: string[] = [];
  while ((limit < 0n || found.length < Number(limit)) && matcher.find()) found.push(matcher.group() ?? '');
  return found;
}

const REGEX_COST: CallCost = sizeCost(
  ([text = exactly(0), pattern = exactly(0)]) =>
    times(scaled(plus(text, exactly(1)), STRING_FACTOR), scaled(pattern, REGEX_FACTOR)),
  ([text]) => ({ min: 0, max: text?.max ?? 0 }),
);

export const REGEX: readonly Overload[] = [
  overload(
    'string.matches(string): bool',
    ([text, pattern]) =>
      compile(pattern as string)
        .matcher(text as string)
        .find(),
    REGEX_COST,
  ),
  overload(
    'matches(string, string): bool',
    ([text, pattern]) =>
      compile(pattern as string)
        .matcher(text as string)
        .find(),
    REGEX_COST,
  ),
  overload(
    'string.find(string): string',
    ([text, pattern]) => findAll(text as string, pattern as string, 1n)[0] ?? '',
    REGEX_COST,
  ),
  overload(
    'string.findAll(string): list<string>',
    ([text, pattern]) => findAll(text as string, pattern as string, -1n),
    REGEX_COST,
  ),
  overload(
    'string.findAll(string, int): list<string>',
    ([text, pattern, limit]) => findAll(text as string, pattern as string, limit as bigint),
    REGEX_COST,
  ),
];
