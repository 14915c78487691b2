/** Logs of up to three Pods side by side, with one search. The URL names the Pods, so that the page can be shared. */
import { type FormEvent, useState } from 'react';
import { Link } from 'wouter';
import controls from '../layout/controls.module.css';
import { PageShell } from '../layout/shell/page-shell.js';
import { useUrlQuery } from '../layout/use-url-query.js';
import { LogControls, LogLines } from './container-log.js';
import classes from './logs-page.module.css';
import { MOST_LOGS, podsInQuery, podsQuery } from './logs-query.js';

export function LogsPage() {
  const [query, setQuery] = useUrlQuery();
  const pods = podsInQuery(query.get('pods') ?? '');
  const search = query.get('search') ?? '';
  const [isFollowing, setFollowing] = useState(true);
  const show = (next: readonly string[]) => setQuery('pods', podsQuery(next));
  return (
    <PageShell title="Logs">
      <h1>Logs</h1>
      <div className={controls.row}>
        <LogControls
          search={search}
          setSearch={(text) => setQuery('search', text)}
          isFollowing={isFollowing}
          setFollowing={setFollowing}
        />
      </div>
      {pods.length < MOST_LOGS && <AddPod add={(pod) => show([...pods, pod])} />}
      {pods.length === 0 && <p>Add a Pod, or open “Compare logs” on the page of a host.</p>}
      <div className={classes.logs}>
        {pods.map((each) => {
          const [namespace = '', pod = ''] = each.split('/');
          return (
            <section key={each} className={controls.card} aria-label={`Log of ${pod}`}>
              <h2>
                <Link href={`/pods/${each}`}>{pod}</Link>
              </h2>
              <button
                type="button"
                className={controls.button}
                aria-label={`Close the log of ${pod}`}
                onClick={() => show(pods.filter((other) => other !== each))}
              >
                Close
              </button>
              <LogLines namespace={namespace} pod={pod} search={search} isFollowing={isFollowing} />
            </section>
          );
        })}
      </div>
    </PageShell>
  );
}

function AddPod({ add }: { add: (pod: string) => void }) {
  const [text, setText] = useState('');
  const [first] = podsInQuery(text);
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
        aria-label="Pod as namespace/name"
        placeholder="default/till-x7k2p"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className={controls.button} disabled={first === undefined}>
        Add Pod
      </button>
    </form>
  );
}
