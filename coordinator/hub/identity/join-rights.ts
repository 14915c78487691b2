/** Rights that a host received when it joined: labels for its Node, and whether it may set protected labels itself. */
import type { Secret } from '../../../shared/kube/objects/config-types.js';
import { base64 } from './new-join-token.js';

export interface JoinRights {
  /** Applied when the Node is registered. */
  labels: Readonly<Record<string, string>>;
  /** True if the host may set protected labels on its own Node. */
  anyLabels: boolean;
}

/** Rights from a token that grants no labels. */
export const NO_RIGHTS: JoinRights = { labels: {}, anyLabels: false };

/** Reads the rights from the Secret of a token or a credential. */
export function readRights({ data }: Pick<Secret, 'data'>): JoinRights {
  const text = (key: string) => Buffer.from(data?.[key] ?? '', 'base64').toString('utf8');
  return { labels: labelsIn(text('labels')), anyLabels: text('any-labels') === 'true' };
}

/** Encodes the rights as fields of a Secret. */
export function encodeRights({ labels, anyLabels }: JoinRights): Record<string, string> {
  return {
    ...(Object.keys(labels).length > 0 ? { labels: base64(JSON.stringify(labels)) } : {}),
    ...(anyLabels ? { 'any-labels': base64('true') } : {}),
  };
}

/** Tolerates any content, because a token may have been written by hand. */
function labelsIn(json: string): Record<string, string> {
  // The common case. An exception per host would cost 0.1 ms per link.
  if (json === '') return {};
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value !== 'object' || value === null) return {};
    return Object.fromEntries(Object.entries(value).filter(([, label]) => typeof label === 'string'));
  } catch {
    return {};
  }
}
