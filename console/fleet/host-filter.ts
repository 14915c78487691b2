/** Filter of hosts: a part of the name, or a label selector in kubectl's syntax. */
import type { Host } from '../../shared/kube/fleet/host-types.js';
import {
  type Matcher,
  parseLabelSelector,
  SelectorSyntaxError,
} from '../../shared/kube/objects/selectors.js';

interface HostFilter {
  matches(host: Host): boolean;
  /** Syntax error of the selector. No host matches then. */
  problem?: string;
}

/** Characters of host names. Any other text is parsed as a label selector. */
const PART_OF_A_NAME = /^[a-z0-9.-]*$/;

/** Parses `site=hamburg,hardware in (nuc, pi)`, or `kiosk-12`. */
export function hostFilter(text: string): HostFilter {
  const trimmed = text.trim();
  if (PART_OF_A_NAME.test(trimmed)) return { matches: ({ metadata }) => metadata.name.includes(trimmed) };
  try {
    const matcher: Matcher = parseLabelSelector(trimmed);
    return { matches: ({ metadata }) => matcher.matches(metadata.labels) };
  } catch (error) {
    if (!(error instanceof SelectorSyntaxError)) throw error;
    return { matches: () => false, problem: error.message };
  }
}
