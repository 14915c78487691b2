/** Which hosts a person means: words in names, and label selectors as kubectl takes them. */
import type { Host } from '../../shared/kube/fleet/host-types.js';
import {
  type Matcher,
  parseLabelSelector,
  SelectorSyntaxError,
} from '../../shared/kube/objects/selectors.js';

interface HostFilter {
  matches(host: Host): boolean;
  /** What is wrong with the text; it then matches nothing by labels. */
  problem?: string;
}

/** Names consist of these; what has anything else is a selector, and so is a label's bare key that no name contains. */
const PART_OF_A_NAME = /^[a-z0-9.-]*$/;

/** `site=hamburg,hardware in (nuc, pi)`, or `kiosk-12`. */
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
