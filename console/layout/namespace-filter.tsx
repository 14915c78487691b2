/** The namespace in the URL: the filter of a list, or the place of a new object. */
import { useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';
import { useNamespaceChoice } from '../api/namespace-choice.js';
import { isNamespaceName } from '../api/namespace-name.js';
import { t } from '../texts/translate.js';

/** Delay after the last keystroke. */
const SETTLED_AFTER_MS = 400;

/** Returns the text when it has not changed for a while. Otherwise each keystroke would request another list. */
export function useSettledText(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLED_AFTER_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/** Returns the typed namespace once it has settled, or '' if it is empty or cannot be one. */
export function useNamespaceFilter(typed: string): string {
  const settled = useSettledText(typed.trim());
  return isNamespaceName(settled) ? settled : '';
}

/** Returns where a new object is created at first: the namespace of the address, or else the chosen one. */
export function useNewObjectNamespace(): string {
  const [query] = useSearchParams();
  const choice = useNamespaceChoice();
  const asked = query.get('namespace') ?? '';
  if (isNamespaceName(asked)) return asked;
  return (choice.kind === 'known' && choice.selected) || 'default';
}

/** Shows nothing for the name of a namespace. */
export function NamespaceProblem({ typed }: { typed: string }) {
  const name = typed.trim();
  if (name === '' || isNamespaceName(name)) return null;
  return (
    <p role="status">{t('“{{name}}” is not the name of a namespace, so the filter is ignored.', { name })}</p>
  );
}
