/** Shows the equivalent command, with a button to copy it. A long command takes one line until a user opens it. */
import { useState } from 'react';
import { t } from '../../texts/translate.js';
import controls from '../controls.module.css';
import classes from './copy-command.module.css';

/** Commands of at most this many characters fit in a line on a phone. */
const ONE_LINE = 34;

interface CopyCommandProps {
  text: string;
  /** True for a command that a user has to type: it is never folded. */
  isWhole?: boolean;
}

export function CopyCommand({ text, isWhole = false }: CopyCommandProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <div className={classes.command}>
      {isWhole || text.length <= ONE_LINE ? (
        <code>{text}</code>
      ) : (
        <details>
          <summary>
            <code>{text}</code>
          </summary>
        </details>
      )}
      <button
        type="button"
        className={controls.button}
        onClick={() => void copy()}
        onBlur={() => setCopied(false)}
      >
        {isCopied ? t('Copied') : t('Copy')}
      </button>
    </div>
  );
}
