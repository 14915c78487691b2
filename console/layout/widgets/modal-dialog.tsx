/**
 * A modal dialog. Base UI traps the focus, closes on Escape, hides the page from screen readers and returns the focus to
 * the control that opened the dialog.
 */
import { Dialog } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import classes from './modal-dialog.module.css';
import { useReportedDialog } from './open-dialogs.js';

interface ModalDialogProps {
  /** Name for screen readers. */
  label: string;
  shape: 'box' | 'list' | 'sheet';
  /** True if a click next to the dialog must not close it, because typed text would be lost. */
  keepsText?: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** Rendered only while the dialog is open. */
export function ModalDialog({ label, shape, keepsText = false, onClose, children }: ModalDialogProps) {
  useReportedDialog();
  return (
    <Dialog.Root open disablePointerDismissal={keepsText} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={classes.backdrop} />
        <Dialog.Viewport className={classes.viewport} data-shape={shape}>
          <Dialog.Popup className={classes.dialog} aria-label={label}>
            {children}
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
