/** Pages that the bottom bar of phones has no room for, with the namespace and the settings of this browser. */
import { Link } from 'wouter';
import { t, translated } from '../../texts/translate.js';
import controls from '../controls.module.css';
import { ModalDialog } from '../widgets/modal-dialog.js';
import classes from './more-sheet.module.css';
import { NamespaceSelect } from './namespace-select.js';
import type { NavItem } from './navigation.js';
import { UserMenu } from './user-menu.js';

interface MoreSheetProps {
  items: readonly NavItem[];
  onClose: () => void;
}

export function MoreSheet({ items, onClose }: MoreSheetProps) {
  return (
    <ModalDialog label={t('More')} shape="sheet" onClose={onClose}>
      <ul className={classes.links}>
        {items.map(({ path, name, icon: Icon }) => (
          <li key={path}>
            <Link href={path} onClick={onClose}>
              <Icon aria-hidden="true" /> {translated(name)}
            </Link>
          </li>
        ))}
      </ul>
      <NamespaceSelect />
      <UserMenu />
      <button type="button" className={controls.button} onClick={onClose}>
        {t('Close')}
      </button>
    </ModalDialog>
  );
}
