/** List of keyboard shortcuts. */
import { useState } from 'react';
import controls from '../layout/controls.module.css';
import { NAV_PLACES } from '../layout/shell/navigation.js';
import table from '../layout/table.module.css';
import { ModalDialog } from '../layout/widgets/modal-dialog.js';
import { t, translated } from '../texts/translate.js';
import { areSingleKeysEnabled, setSingleKeys } from './single-keys.js';

const KEYS: readonly [keys: string, what: string][] = [
  ['Ctrl K, ⌘ K', 'Go to a page, host, DaemonSet or rollout; or act: cordon node-37, approve till'],
  ['?', 'This sheet'],
  ['/', 'Filter of the list'],
  ...NAV_PLACES.map(({ key, name }): [string, string] => [`g ${key}`, name]),
  ['Tab, Shift Tab', 'Next or previous control'],
  ['Escape', 'Close the dialog'],
];

export function HelpSheet({ onClose }: { onClose: () => void }) {
  const [isOn, setOn] = useState(areSingleKeysEnabled);
  return (
    <ModalDialog label={t('Keyboard shortcuts')} shape="box" onClose={onClose}>
      <h2>{t('Keyboard shortcuts')}</h2>
      <table className={table.table}>
        <tbody>
          {KEYS.map(([keys, what]) => (
            <tr key={keys}>
              <th scope="row">
                <kbd>{keys}</kbd>
              </th>
              <td>{translated(what)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <label className={controls.row}>
        <input
          type="checkbox"
          checked={isOn}
          onChange={(event) => {
            setOn(event.target.checked);
            setSingleKeys(event.target.checked);
          }}
        />
        {t('Single-key shortcuts (?, /, g …)')}
      </label>
      <div className={controls.row}>
        <button type="button" className={controls.button} onClick={onClose}>
          {t('Close')}
        </button>
      </div>
    </ModalDialog>
  );
}
