/** Marks the table of clients that `npm run compatibility` writes into the README. */
export const TABLE_BEGIN = '<!-- clients: written by npm run compatibility -->';
export const TABLE_END = '<!-- end of clients -->';
