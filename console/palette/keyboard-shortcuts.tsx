/** Keyboard shortcuts: Ctrl-K, and single keys outside of text fields. */
import { Suspense, useLayoutEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { lazyPage } from '../layout/lazy-page.js';
import { OPEN_PALETTE } from '../layout/shell/console-shell.js';
import { NAV_PLACES } from '../layout/shell/navigation.js';
import { areSingleKeysEnabled } from './single-keys.js';

const CommandPalette = lazyPage(async () => (await import('./command-palette.js')).CommandPalette);
const HelpSheet = lazyPage(async () => (await import('./help-sheet.js')).HelpSheet);

/** Maximum delay between `g` and the next key, in milliseconds. */
const SECOND_KEY_MS = 1_500;

export function KeyboardShortcuts() {
  const [open, setOpen] = useState<'palette' | 'help'>();
  const [, navigate] = useLocation();
  // Before the page is drawn. A key that is pressed as soon as the page appears would be lost otherwise.
  useLayoutEffect(() => {
    let prefixAt = Number.NEGATIVE_INFINITY;
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        setOpen('palette');
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || !areSingleKeysEnabled())
        return;
      if (document.querySelector('[role="dialog"], [role="menu"]')) return;
      const place = NAV_PLACES.find(({ key }) => key === event.key);
      if (place && event.timeStamp - prefixAt < SECOND_KEY_MS) navigate(place.path);
      prefixAt = event.key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (event.key === '?') setOpen('help');
      if (event.key === '/') focusFilter(event);
    };
    const onOpen = () => setOpen('palette');
    addEventListener('keydown', onKey);
    addEventListener(OPEN_PALETTE, onOpen);
    return () => {
      removeEventListener('keydown', onKey);
      removeEventListener(OPEN_PALETTE, onOpen);
    };
  }, [navigate]);
  return (
    <Suspense>
      {open === 'palette' && (
        <CommandPalette
          onClose={() => setOpen((now) => (now === 'palette' ? undefined : now))}
          onHelp={() => setOpen('help')}
        />
      )}
      {open === 'help' && <HelpSheet onClose={() => setOpen(undefined)} />}
    </Suspense>
  );
}

/** Returns true if the focus is in a text field, where single-key shortcuts must not fire. */
function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.closest('input:not([type="checkbox"]), textarea, select, [role="textbox"]') !== null)
  );
}

function focusFilter(event: KeyboardEvent): void {
  const field = document.querySelector<HTMLElement>('[data-shortcut="/"]');
  if (!field) return;
  event.preventDefault();
  field.focus();
}
