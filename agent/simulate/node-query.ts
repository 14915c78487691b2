/** Selects simulated nodes by name or by label. */
import {
  type Matcher,
  parseLabelSelector,
  SelectorSyntaxError,
} from '../../shared/kube/objects/selectors.js';

/** A simulated node as a query sees it. */
export interface QueriedNode {
  name: string;
  labels: Readonly<Record<string, string>>;
}

export type NodeQuery = (node: QueriedNode) => boolean;

/** Marks a text as a label selector: node names contain none of these characters. */
const SELECTOR_SIGN = /[=!()]|\s(in|notin)\s/;

/**
 * Parses `*`, node names (`node-3,node-7`), or a label selector as kubectl takes it (`zone=a,gpu!=no,!old,tier in (x,y)`).
 * Throws an Error for anything else.
 */
export function parseNodeQuery(text: string): NodeQuery {
  if (text.trim() === '*') return () => true;
  if (!SELECTOR_SIGN.test(text)) {
    const names = new Set(text.split(',').map((name) => name.trim()));
    return ({ name }) => names.has(name);
  }
  const selector = readSelector(text);
  return ({ labels }) => selector.matches(labels);
}

function readSelector(text: string): Matcher {
  try {
    if (/,\s*,/.test(text)) throw new SelectorSyntaxError('empty requirement');
    return parseLabelSelector(text);
  } catch (error) {
    if (!(error instanceof SelectorSyntaxError)) throw error;
    throw new Error(`"${text.trim()}" is not a label selector`);
  }
}
