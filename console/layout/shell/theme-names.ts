/** Names of the themes. */

export const THEMES = ['system default', 'light', 'dark'] as const;

export type Theme = (typeof THEMES)[number];
