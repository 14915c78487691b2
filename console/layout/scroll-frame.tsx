/** Scrollable region that is reachable by mouse and keyboard (WCAG 2.1.1). */
import type { ComponentProps } from 'react';
import { translated } from '../texts/translate.js';

type ScrollFrameProps = ComponentProps<'section'> & {
  label: string;
};

export function ScrollFrame({ label, ...rest }: ScrollFrameProps) {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be reachable by keyboard
  return <section aria-label={translated(label)} tabIndex={0} {...rest} />;
}
