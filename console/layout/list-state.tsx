/** What a list shows instead of its rows: loading, not allowed, unreachable, or empty, each with what to do. */
import type { ReactNode } from 'react';
import type { ApiCallError } from '../api/api-call.js';
import type { WatchPhase } from '../api/list-watch.js';
import { RichText } from '../texts/rich-text.js';
import { t, translated } from '../texts/translate.js';
import controls from './controls.module.css';

interface ListStateProps {
  phase: WatchPhase;
  error?: ApiCallError | undefined;
  /** What the list contains, as in "DaemonJobs". */
  what: string;
  isEmpty: boolean;
  /** Shown for an empty list: why, and the next step. */
  children: ReactNode;
}

export function ListState({ phase, error, what: word, isEmpty, children }: ListStateProps) {
  const what = translated(word);
  if (phase === 'loading') return <p role="status">{t('Loading {{what}}…', { what })}</p>;
  if (phase === 'refused') return <Refused what={what} error={error} />;
  if (phase === 'lost' && isEmpty)
    return (
      <p role="status">
        {t('{{what}} could not be loaded yet. The page tries again by itself.', { what })}
        {error && ` ${error.message}`}
      </p>
    );
  return isEmpty ? <div className={controls.card}>{children}</div> : null;
}

function Refused({ what, error }: { what: string; error: ApiCallError | undefined }) {
  if (error?.code === 404)
    return (
      <p role="alert">
        {t('This coordinator does not serve {{what}}. Upgrade it, or check the address of this page.', {
          what,
        })}
      </p>
    );
  return (
    <div role="alert" className={controls.card}>
      <p>{t('You are not allowed to list {{what}}.', { what })}</p>
      <p className={controls.dim}>{error?.message}</p>
      <p>
        <RichText text="Ask an administrator for the role <role/>." parts={{ role: <code>view</code> }} />
      </p>
    </div>
  );
}
