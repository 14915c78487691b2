/** Which nodes a text means: names, or a label selector as kubectl takes it. */
import { ownValue } from '../../shared/kube/objects/label-syntax.js';

/** A simulated node as a query sees it. */
export interface QueriedNode {
  name: string;
  labels: Readonly<Record<string, string>>;
}

export type NodeQuery = (node: QueriedNode) => boolean;

/** Marks a text as a selector: names can hold none of these. */
const SELECTOR_SIGN = /[=!()]|\s(in|notin)\s/;
const REQUIREMENT = /\s*((?:[^,()]|\([^()]*\))+)(?:,|$)/gy;

/** `*`, names (`node-3,node-7`), or requirements that must all hold (`zone=a,gpu!=no,!old,tier in (x,y)`). Throws an Error for what is neither. */
export function parseNodeQuery(text: string): NodeQuery {
  if (text.trim() === '*') return () => true;
  if (!SELECTOR_SIGN.test(text)) {
    const names = new Set(listOf(text));
    return ({ name }) => names.has(name);
  }
  const found = [...text.matchAll(REQUIREMENT)];
  const rest = text.slice(found.reduce((length, [match]) => length + match.length, 0));
  if (rest.trim() !== '') throw new Error(`"${rest.trim()}" is no label requirement`);
  const requirements = found.map(([, requirement = '']) => parseRequirement(requirement));
  return ({ labels }) => requirements.every((holds) => holds(labels));
}

type Requirement = (labels: QueriedNode['labels']) => boolean;

function parseRequirement(text: string): Requirement {
  const [, absent] = /^\s*!\s*(\S+)\s*$/.exec(text) ?? [];
  if (absent) return (labels) => !Object.hasOwn(labels, absent);
  const [, key = '', operator = '', value = ''] =
    /^\s*([^\s=!()]+)\s*(==?|!=|\sin\s|\snotin\s|$)\s*(.*?)\s*$/.exec(text) ?? [];
  switch (key && operator.trim()) {
    case '':
      if (key && value === '') return (labels) => Object.hasOwn(labels, key);
      throw new Error(`"${text.trim()}" is no label requirement`);
    case '=':
    case '==':
      return (labels) => ownValue(labels, key) === value;
    case '!=':
      return (labels) => ownValue(labels, key) !== value;
    default: {
      const values = setOf(value);
      const wanted = operator.trim() === 'in';
      // A node without the key satisfies `notin`, as in kubectl.
      return (labels) => values.includes(ownValue(labels, key) ?? '\0') === wanted;
    }
  }
}

function setOf(text: string): string[] {
  const [, inner] = /^\((.*)\)$/.exec(text) ?? [];
  if (inner === undefined) throw new Error(`"${text}" is not of the form (a,b)`);
  return listOf(inner);
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
