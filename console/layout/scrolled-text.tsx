/** Text that scrolls within its own frame, by mouse and by keyboard (WCAG 2.1.1). */
import type { RefObject } from 'react';
import classes from './scrolled-text.module.css';

interface ScrolledTextProps {
  /** What it is, for those who hear it. */
  label: string;
  text: string;
  /** Lines break where the frame ends. */
  wraps?: boolean;
  frame?: RefObject<HTMLElement | null>;
}

export function ScrolledText({ label, text, wraps = false, frame }: ScrolledTextProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard (WCAG 2.1.1)
    <section ref={frame} className={classes.frame} tabIndex={0} aria-label={label} data-wraps={wraps}>
      <pre>{text}</pre>
    </section>
  );
}
