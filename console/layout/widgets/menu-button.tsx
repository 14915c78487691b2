/** A button that opens a menu. Base UI handles the arrow keys, typing, the focus, the roles and the position. */
import { Menu } from '@base-ui/react/menu';
import { Check, ChevronDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { translated } from '../../texts/translate.js';
import controls from '../controls.module.css';
import classes from './popup.module.css';

interface MenuButtonProps {
  label: string;
  children: ReactNode;
}

export function MenuButton({ label, children }: MenuButtonProps) {
  return (
    <Menu.Root>
      <Menu.Trigger className={`${controls.button} ${classes.button}`}>
        {translated(label)}
        <ChevronDown aria-hidden="true" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className={classes.positioner} align="start" sideOffset={4}>
          <Menu.Popup className={classes.popup}>{children}</Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

interface MenuActionProps {
  label: string;
  onSelect: () => void;
}

/** An entry that closes the menu. */
export function MenuAction({ label, onSelect }: MenuActionProps) {
  return (
    <Menu.Item className={classes.item} onClick={onSelect}>
      {translated(label)}
    </Menu.Item>
  );
}

interface MenuChoiceProps {
  label: string;
  isOn: boolean;
  onToggle: () => void;
}

/** An entry that is on or off. The menu stays open. */
export function MenuChoice({ label, isOn, onToggle }: MenuChoiceProps) {
  return (
    <Menu.CheckboxItem className={classes.item} checked={isOn} onCheckedChange={onToggle}>
      <Menu.CheckboxItemIndicator>
        <Check aria-hidden="true" />
      </Menu.CheckboxItemIndicator>
      <span>{translated(label)}</span>
    </Menu.CheckboxItem>
  );
}
