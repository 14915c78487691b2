/** Fields of the form "Run on hosts". */
import controls from '../layout/controls.module.css';
import { TextField } from '../layout/text-field.js';
import { t } from '../texts/translate.js';
import type { RunDraft } from './run-draft.js';
import classes from './run-fields.module.css';

interface RunFieldsProps {
  draft: RunDraft;
  onChange: (change: Partial<RunDraft>) => void;
}

/** The fields of one line of text: name, label, example. */
const MAIN = [
  ['image', 'Image', 'busybox:1.36'],
  ['command', 'Command', 'the one of the image, or: df -h /'],
] as const satisfies readonly (readonly [keyof RunDraft, string, string])[];

const LIMITS = [
  ['parallelism', 'Hosts at once', '100%, or 50'],
  ['maxFailed', 'Stop after this many failed hosts', 'no limit'],
  ['retries', 'Retries on each host', '0'],
  ['namespace', 'Namespace', 'default'],
] as const satisfies readonly (readonly [keyof RunDraft, string, string])[];

export function RunFields({ draft, onChange }: RunFieldsProps) {
  return (
    <div className={classes.form}>
      <fieldset className={classes.target}>
        <legend>{t('Hosts')}</legend>
        <Choice label="With these labels" value="hosts" draft={draft} onChange={onChange} />
        <input
          className={controls.input}
          aria-label={t('Labels')}
          placeholder="site=kiel"
          value={draft.selector}
          disabled={draft.target === 'all'}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => onChange({ selector: target.value })}
        />
        <Choice label="All hosts" value="all" draft={draft} onChange={onChange} />
      </fieldset>
      {MAIN.map(([field, label, hint]) => (
        <TextField
          key={field}
          label={label}
          hint={hint}
          value={draft[field]}
          onText={(text) => onChange({ [field]: text })}
        />
      ))}
      <details>
        <summary>{t('Limits and namespace')}</summary>
        <div className={classes.limits}>
          {LIMITS.map(([field, label, hint]) => (
            <TextField
              key={field}
              label={label}
              hint={hint}
              value={draft[field]}
              onText={(text) => onChange({ [field]: text })}
            />
          ))}
        </div>
      </details>
    </div>
  );
}

interface ChoiceProps extends RunFieldsProps {
  label: string;
  value: RunDraft['target'];
}

function Choice({ label, value, draft, onChange }: ChoiceProps) {
  return (
    <label className={classes.choice}>
      <input
        type="radio"
        name="target"
        checked={draft.target === value}
        onChange={() => onChange({ target: value })}
      />
      {label}
    </label>
  );
}
