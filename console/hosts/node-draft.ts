/** Unsaved edits of a host's labels and taints. */

import { isSameTaint, type NodeChange, taintText } from '../../shared/kube/nodes/node-change.js';
import type { Node, Taint } from '../../shared/kube/nodes/node-types.js';
import { isLabelKey, isLabelValue, ownValue } from '../../shared/kube/objects/label-syntax.js';

interface NodeDraft {
  labels: Readonly<Record<string, string | null>>;
  added: readonly Taint[];
  removed: readonly Taint[];
}

export const NO_DRAFT: NodeDraft = { labels: {}, added: [], removed: [] };

/** A label or taint with its state in the draft. */
export interface DraftRow {
  key: string;
  text: string;
  state: 'unchanged' | 'new' | 'changed' | 'removed';
}

/** Sets or removes a label. Drops the edit if it changes nothing. Pure. */
export function withLabel(
  draft: NodeDraft,
  { metadata }: Node,
  key: string,
  value: string | null,
): NodeDraft {
  const { [key]: _, ...others } = draft.labels;
  const isSo = (ownValue(metadata.labels, key) ?? null) === value;
  return { ...draft, labels: isSo ? others : { ...others, [key]: value } };
}

export function withTaint(draft: NodeDraft, { spec }: Node, taint: Taint): NodeDraft {
  const added = draft.added.filter((each) => !isSameTaint(each, taint));
  const removed = draft.removed.filter((each) => !isSameTaint(each, taint));
  const isSo = spec?.taints?.some((each) => taintText(each) === taintText(taint));
  return { ...draft, added: isSo ? added : [...added, taint], removed };
}

export function withoutTaint(draft: NodeDraft, { spec }: Node, taint: Taint): NodeDraft {
  const added = draft.added.filter((each) => !isSameTaint(each, taint));
  const isThere = spec?.taints?.some((each) => isSameTaint(each, taint));
  return { ...draft, added, removed: isThere ? [...draft.removed, taint] : draft.removed };
}

export function withTaintKept(draft: NodeDraft, taint: Taint): NodeDraft {
  return { ...draft, removed: draft.removed.filter((each) => !isSameTaint(each, taint)) };
}

/** Returns the draft as a change, or undefined if it is empty. */
export function changeOfDraft({ labels, added, removed }: NodeDraft): NodeChange | undefined {
  const hasLabels = Object.keys(labels).length > 0;
  const hasTaints = added.length + removed.length > 0;
  if (!hasLabels && !hasTaints) return undefined;
  return {
    ...(hasLabels ? { labels } : {}),
    ...(hasTaints
      ? { taints: { add: added, remove: removed.map(({ key, effect }) => ({ key, effect })) } }
      : {}),
  };
}

/** Returns the current and the pending labels, sorted by key. */
export function labelRows({ metadata: { labels = {} } }: Node, draft: NodeDraft): DraftRow[] {
  const keys = [...new Set([...Object.keys(labels), ...Object.keys(draft.labels)])].sort();
  return keys.flatMap((key): DraftRow[] => {
    const [is, will] = [ownValue(labels, key), ownValue(draft.labels, key)];
    if (will === undefined) return [{ key, text: labelText(key, is ?? ''), state: 'unchanged' }];
    if (will === null) return is === undefined ? [] : [{ key, text: labelText(key, is), state: 'removed' }];
    return [{ key, text: labelText(key, will), state: is === undefined ? 'new' : 'changed' }];
  });
}

/** Written by the agent at each registration. A user who removes one gets it back. */
const SYSTEM_LABELS = /^(beta\.|node\.)?kubernetes\.io\//;

export function isSystemLabel(key: string): boolean {
  return SYSTEM_LABELS.test(key);
}

/** Parses `site=kiel` or `gpu`. Returns undefined for an invalid label. */
export function parseLabel(text: string): [key: string, value: string] | undefined {
  const trimmed = text.trim();
  const at = trimmed.indexOf('=');
  const [key, value] = at < 0 ? [trimmed, ''] : [trimmed.slice(0, at), trimmed.slice(at + 1)];
  return isLabelKey(key) && isLabelValue(value) ? [key, value] : undefined;
}

export function commandsOf(name: string, { labels, added, removed }: NodeDraft): string[] {
  const words = Object.entries(labels).map(([key, value]) =>
    value === null ? `${key}-` : `${key}=${value}`,
  );
  const taints = [...added.map(taintText), ...removed.map(({ key, effect }) => `${key}:${effect}-`)];
  return [
    ...(words.length > 0 ? [`kubectl label node ${name} --overwrite ${words.join(' ')}`] : []),
    ...(taints.length > 0 ? [`kubectl taint node ${name} --overwrite ${taints.join(' ')}`] : []),
  ];
}

function labelText(key: string, value: string): string {
  return value === '' ? key : `${key}=${value}`;
}
