/** Terminal in a container: xterm.js over `ExecSession`. Loaded on demand. */
import { FitAddon } from '@xterm/addon-fit';
import { type ITheme, Terminal as Xterm } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import { useEffect, useRef } from 'react';
import { t } from '../texts/translate.js';
import { withStrictStyles } from './csp-styles.js';
import { ExecSession, type ExecTarget } from './exec-session.js';
import classes from './terminal.module.css';

const SCROLLBACK = 5_000;

interface TerminalProps {
  target: ExecTarget;
  isDisconnected: boolean;
  onOpened: () => void;
  /** Called once with the result, and whether the command printed anything. */
  onEnded: (how: string, hasPrinted: boolean) => void;
}

/** One session. A new session needs a new `key`. */
export function Terminal({ target, isDisconnected, onOpened, onEnded }: TerminalProps) {
  const frame = useRef<HTMLElement>(null);
  const session = useRef<ExecSession>(null);
  const first = useRef({ target, onOpened, onEnded });

  useEffect(() => {
    const host = frame.current;
    if (!host) return;
    const terminal = new Xterm({
      theme: themeOf(host),
      fontFamily: 'ui-monospace, "Cascadia Mono", "DejaVu Sans Mono", monospace',
      fontSize: 13,
      scrollback: SCROLLBACK,
      screenReaderMode: true,
      cursorBlink: false,
    });
    const fit = new FitAddon();
    terminal.loadAddon(fit);
    withStrictStyles(() => terminal.open(host));
    fit.fit();
    const { target: about, ...tell } = first.current;
    let hasPrinted = false;
    const opened = new ExecSession(about, {
      opened: () => {
        opened.resize(terminal.cols, terminal.rows);
        terminal.focus();
        // xterm does not draw outside of the viewport.
        host.scrollIntoView({ block: 'nearest' });
        tell.onOpened();
      },
      output: (bytes) => {
        hasPrinted = true;
        terminal.write(bytes);
      },
      ended: (how) => {
        terminal.options.disableStdin = true;
        tell.onEnded(how, hasPrinted);
      },
    });
    session.current = opened;
    terminal.onData((text) => opened.write(text));
    terminal.onResize(({ cols, rows }) => opened.resize(cols, rows));
    const watched = new ResizeObserver(() => fit.fit());
    watched.observe(host);
    return () => {
      watched.disconnect();
      opened.close();
      terminal.dispose();
    };
  }, []);
  useEffect(() => {
    if (isDisconnected) session.current?.close();
  }, [isDisconnected]);

  return <section ref={frame} className={classes.terminal} aria-label={t('Terminal screen')} />;
}

/** Returns the current colours of the console. */
function themeOf(element: HTMLElement): ITheme {
  const style = getComputedStyle(element);
  return {
    background: style.backgroundColor,
    foreground: style.color,
    cursor: style.color,
    cursorAccent: style.backgroundColor,
    selectionBackground: style.outlineColor,
  };
}
