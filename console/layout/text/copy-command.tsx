/** Shows the equivalent command, with a button to copy it. */
import { useState } from 'react';
import { t } from '../../texts/translate.js';
import controls from '../controls.module.css';
import classes from './copy-command.module.css';

export function CopyCommand({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <p className={classes.command}>
      <code>{text}</code>
      <button
        type="button"
        className={controls.button}
        onClick={() => void copy()}
        onBlur={() => setCopied(false)}
      >
        {isCopied ? t('Copied') : t('Copy')}
      </button>
    </p>
  );
}
