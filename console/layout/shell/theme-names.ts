/** Names of the themes. */

export const THEMES = ['as the system', 'light', 'dark'] as const;

export type Theme = (typeof THEMES)[number];
