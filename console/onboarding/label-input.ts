/** Parses labels that a user typed. */
import { isLabelKey, isLabelValue } from '../../shared/kube/objects/label-syntax.js';
import { t } from '../texts/translate.js';

/** Parses `site=kiel,hardware=nuc`. Returns a problem for an invalid text. Pure. */
export function parseLabels(text: string): { labels: Record<string, string>; problem?: string } {
  const labels: Record<string, string> = {};
  for (const item of text.split(/[,\s]+/).filter(Boolean)) {
    const at = item.indexOf('=');
    const [key, value] = at < 0 ? [item, ''] : [item.slice(0, at), item.slice(at + 1)];
    if (!isLabelKey(key) || !isLabelValue(value))
      return { labels, problem: t('"{{item}}" is not a valid label', { item }) };
    labels[key] = value;
  }
  return { labels };
}
