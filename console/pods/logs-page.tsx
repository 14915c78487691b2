/** Logs of up to three containers side by side, with one search. The URL names them, so that the page can be shared. */
import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import controls from '../layout/controls.module.css';
import { Page } from '../layout/shell/page.js';
import { useUrlQuery } from '../layout/use-url-query.js';
import { t } from '../texts/translate.js';
import { LogControls, LogLines } from './container-log.js';
import classes from './logs-page.module.css';
import { logsInQuery, logsQuery, MOST_LOGS, readLog } from './logs-query.js';

export function LogsPage() {
  const [query, setQuery] = useUrlQuery();
  const logs = logsInQuery(query.get('pods') ?? '');
  const search = query.get('search') ?? '';
  const [isFollowing, setFollowing] = useState(true);
  const show = (next: readonly string[]) => setQuery('pods', logsQuery(next));
  return (
    <Page title="Logs">
      <h1>{t('Logs')}</h1>
      <div className={controls.row}>
        <LogControls
          search={search}
          setSearch={(text) => setQuery('search', text)}
          isFollowing={isFollowing}
          setFollowing={setFollowing}
        />
      </div>
      {logs.length < MOST_LOGS && <AddPod add={(log) => show([...logs, log])} />}
      {logs.length === 0 && <p>{t('Add a Pod, or open “Compare logs” on the page of a host.')}</p>}
      <div className={classes.logs}>
        {logs.map((each) => {
          const { namespace, pod, container } = readLog(each);
          const name = container === undefined ? pod : `${pod}/${container}`;
          return (
            <section key={each} className={controls.card} aria-label={t('Log of {{name}}', { name })}>
              <h2>
                <Link href={`/pods/${namespace}/${pod}`}>{name}</Link>
              </h2>
              <button
                type="button"
                className={controls.button}
                aria-label={t('Close the log of {{name}}', { name })}
                onClick={() => show(logs.filter((other) => other !== each))}
              >
                {t('Close')}
              </button>
              <LogLines {...readLog(each)} search={search} isFollowing={isFollowing} />
            </section>
          );
        })}
      </div>
    </Page>
  );
}

function AddPod({ add }: { add: (log: string) => void }) {
  const [text, setText] = useState('');
  const [first] = logsInQuery(text);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (first === undefined) return;
    add(first);
    setText('');
  };
  return (
    <form className={controls.row} onSubmit={submit}>
      <input
        className={controls.input}
        aria-label={t('Pod as namespace/name, or one of its containers as namespace/name/container')}
        placeholder={t('default/till-x7k2p/main')}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className={controls.button} disabled={first === undefined}>
        {t('Add Pod')}
      </button>
    </form>
  );
}
