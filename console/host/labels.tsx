/** A host's labels and taints; labels are edited in place. */
import { type FormEvent, useState } from 'react';
import type { Node } from '../../shared/kube/node.js';
import { request } from '../api/call.js';
import controls from '../layout/controls.module.css';
import classes from './labels.module.css';

export function Labels({ node }: { node: Node }) {
  const [problem, setProblem] = useState('');
  const { name, labels = {} } = node.metadata;
  const change = async (changed: Record<string, string | null>) => {
    setProblem('');
    try {
      const body = { metadata: { labels: changed } };
      await request(`/api/v1/nodes/${name}`, {
        method: 'PATCH',
        contentType: 'application/merge-patch+json',
        body,
      });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <section className={controls.card} aria-label="Labels and taints">
      <h2>Labels</h2>
      <ul className={classes.labels}>
        {Object.entries(labels)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, value]) => (
            <li key={key}>
              <code>{value === '' ? key : `${key}=${value}`}</code>
              <button
                type="button"
                aria-label={`Remove label ${key}`}
                onClick={() => void change({ [key]: null })}
              >
                ×
              </button>
            </li>
          ))}
      </ul>
      <AddLabel onAdd={(key, value) => void change({ [key]: value })} />
      {problem && (
        <p role="alert" className={controls.problem}>
          {problem}
        </p>
      )}
      {(node.spec?.taints ?? []).length > 0 && <h2>Taints</h2>}
      <ul className={classes.labels}>
        {(node.spec?.taints ?? []).map(({ key, value, effect }) => (
          <li key={`${key}:${effect}`}>
            <code>{`${key}${value ? `=${value}` : ''}:${effect}`}</code>
          </li>
        ))}
      </ul>
    </section>
  );
}

function AddLabel({ onAdd }: { onAdd: (key: string, value: string) => void }) {
  const [text, setText] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const at = text.indexOf('=');
    onAdd(at < 0 ? text : text.slice(0, at), at < 0 ? '' : text.slice(at + 1));
    setText('');
  };
  return (
    <form className={controls.row} onSubmit={submit}>
      <input
        className={controls.input}
        aria-label="New label"
        placeholder="site=hamburg"
        required
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className={controls.button}>
        Set label
      </button>
    </form>
  );
}
