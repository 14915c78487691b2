/** Says that the user's roles do not cover a list, and what to do about it. */
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

export function NotAllowed({ what, resource, namespace, isNamespaced = false }: NotAllowedProps) {
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  return (
    <section className={controls.card} aria-label="Not allowed">
      <p role="alert">
        You are not allowed to list {what}
        {where}.
      </p>
      <p className={controls.dim}>
        Ask an administrator for a role with <code>list</code> and <code>watch</code> on{' '}
        <code>{resource}</code>.
      </p>
      {isNamespaced && namespace === undefined && (
        <>
          <p>If your rights are for one namespace, open it here.</p>
          <NamespaceForm />
        </>
      )}
    </section>
  );
}
