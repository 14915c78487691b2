/** Text in a scrollable region. */
import type { RefObject } from 'react';
import { ScrollFrame } from '../scroll-frame.js';
import classes from './scrolled-text.module.css';

interface ScrolledTextProps {
  label: string;
  text: string;
  wraps?: boolean;
  frame?: RefObject<HTMLElement | null>;
}

export function ScrolledText({ label, text, wraps = false, frame }: ScrolledTextProps) {
  return (
    <ScrollFrame ref={frame} className={classes.frame} label={label} data-wraps={wraps}>
      <pre className={classes.text}>{text}</pre>
    </ScrollFrame>
  );
}
