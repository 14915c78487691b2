/** Says that the user's roles do not cover a list, and what to do about it. */

import { RichText } from '../texts/rich-text.js';
import { t, translated } from '../texts/translate.js';
import controls from './controls.module.css';
import { NamespaceForm } from './shell/namespace-select.js';

interface NotAllowedProps {
  /** The objects, in the words of the page. */
  what: string;
  /** The resource, as in `kubectl auth can-i list`. */
  resource: string;
  /** The chosen namespace, which is refused as well. Absent for objects of the whole cluster. */
  namespace?: string | undefined;
  /** True if the objects are in namespaces, so that another namespace can help. */
  isNamespaced?: boolean;
}

export function NotAllowed({ what: word, resource, namespace, isNamespaced = false }: NotAllowedProps) {
  const what = translated(word);
  return (
    <section className={controls.card} aria-label={t('Not allowed')}>
      <p role="alert">
        {namespace === undefined
          ? t('You are not allowed to list {{what}}.', { what })
          : t('You are not allowed to list {{what}} in namespace {{namespace}}.', { what, namespace })}
      </p>
      <p className={controls.dim}>
        <RichText
          text="Ask an administrator for a role with <list/> and <watch/> on <resource/>."
          parts={{ list: <code>list</code>, watch: <code>watch</code>, resource: <code>{resource}</code> }}
        />
      </p>
      {isNamespaced && namespace === undefined && (
        <>
          <p>{t('If your rights are for one namespace, open it here.')}</p>
          <NamespaceForm />
        </>
      )}
    </section>
  );
}
