/** The themes that there are. */

export const THEMES = ['as the system', 'light', 'dark'] as const;

export type Theme = (typeof THEMES)[number];
