/** A button that opens a small panel with controls. Base UI handles the focus, Escape, clicks outside and the position. */
import { Popover } from '@base-ui/react/popover';
import { ChevronDown } from 'lucide-react';
import type { ReactNode } from 'react';
import { translated } from '../../texts/translate.js';
import controls from '../controls.module.css';
import classes from './popup.module.css';

/** A button that also closes the panel. */
export const PopoverClose = Popover.Close;

interface PopoverButtonProps {
  label: string;
  children: ReactNode;
}

export function PopoverButton({ label, children }: PopoverButtonProps) {
  return (
    <Popover.Root modal>
      <Popover.Trigger className={`${controls.button} ${classes.button}`}>
        {translated(label)}
        <ChevronDown aria-hidden="true" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner className={classes.positioner} align="start" sideOffset={4}>
          <Popover.Popup className={classes.popup} aria-label={translated(label)}>
            {children}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
