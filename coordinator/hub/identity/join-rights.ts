/** What a host was given with its join: labels for its Node, and whether it may choose them itself. */
import type { Secret } from '../../../shared/kube/objects/config-types.js';
import { base64 } from './new-join-token.js';

export interface JoinRights {
  /** For its Node, when that is registered. */
  labels: Readonly<Record<string, string>>;
  /** True when it may give itself protected labels as well. */
  anyLabels: boolean;
}

/** A host's that joined by a token that says nothing of labels. */
export const NO_RIGHTS: JoinRights = { labels: {}, anyLabels: false };

/** Those in a token's or a credential's Secret. */
export function readRights({ data }: Pick<Secret, 'data'>): JoinRights {
  const text = (key: string) => Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');
  return { labels: labelsIn(text('labels')), anyLabels: text('any-labels') === 'true' };
}

/** The same as fields of a Secret. */
export function encodeRights({ labels, anyLabels }: JoinRights): Record<string, string> {
  return {
    ...(Object.keys(labels).length > 0 ? { labels: base64(JSON.stringify(labels)) } : {}),
    ...(anyLabels ? { 'any-labels': base64('true') } : {}),
  };
}

/** A token made by hand may hold anything. */
function labelsIn(json: string): Record<string, string> {
  // Of most hosts: an exception for each would cost a link a tenth of a millisecond.
  if (json === '') return {};
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value !== 'object' || value === null) return {};
    return Object.fromEntries(Object.entries(value).filter(([, label]) => typeof label === 'string'));
  } catch {
    return {};
  }
}
