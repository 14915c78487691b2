/** Choice of the namespace, for users who may not list the whole cluster. */
import { type FormEvent, useId, useState } from 'react';
import { selectNamespace, useNamespaceChoice } from '../../api/namespace-choice.js';
import { t } from '../../texts/translate.js';
import controls from '../controls.module.css';
import classes from './namespace-select.module.css';

/** Shows nothing until a list was refused. */
export function NamespaceSelect() {
  const choice = useNamespaceChoice();
  const id = useId();
  if (choice.kind !== 'known') return null;
  const { readable, selected } = choice;
  return (
    <div className={classes.choice}>
      {readable.length > 0 && (
        <>
          <label htmlFor={id}>{t('Namespace')}</label>
          <select
            id={id}
            className={controls.input}
            value={selected}
            onChange={(event) => void selectNamespace(event.target.value)}
          >
            {readable.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </>
      )}
      <details>
        <summary>{t('Other namespace')}</summary>
        <NamespaceForm />
      </details>
    </div>
  );
}

/** The API has no list of the namespaces that a user may read. So users type the name of a further one. */
export function NamespaceForm() {
  const [name, setName] = useState('');
  const [problem, setProblem] = useState('');
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const isReadable = await selectNamespace(name.trim());
    setProblem(isReadable ? '' : t('You are not allowed to read namespace {{name}}.', { name: name.trim() }));
    if (isReadable) setName('');
  };
  return (
    <form className={controls.row} onSubmit={(event) => void submit(event)}>
      <input
        className={controls.input}
        aria-label={t('Name of a namespace')}
        placeholder={t('namespace')}
        autoComplete="off"
        required
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <button type="submit" className={controls.button}>
        {t('Open')}
      </button>
      {problem && (
        <p role="alert" className={controls.problem}>
          {problem}
        </p>
      )}
    </form>
  );
}
