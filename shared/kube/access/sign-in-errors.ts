/**
 * Why a sign-in with OpenID Connect failed. The coordinator redirects to the console with the error code in the URL;
 * the console shows its text.
 */

/**
 * Texts for the user. Details from the issuer are only logged by the coordinator: they must not come from a URL, which
 * anyone can forge.
 */
export const SIGN_IN_ERRORS = {
  NotBegun: 'this sign-in was not begun here, or is over',
  Host: 'the Host header is not of the form HOST:PORT',
  Unreachable: 'the issuer cannot be reached',
  Busy: 'too many people are signing in at this moment: try again',
  Undiscovered: 'the issuer does not say where to sign in',
  Issuer: 'the issuer refused it: the log of the coordinator says how',
  NoCode: 'the issuer sent no code',
  NoToken: 'the issuer gave no ID token: is the scope openid missing?',
  OtherSignIn: 'the ID token is for another sign-in',
  NotAccepted: 'the coordinator does not accept the ID token: its log says why',
} as const;

export type SignInError = keyof typeof SIGN_IN_ERRORS;

/** Returns the text for the code in the URL. Returns a generic text for an unknown code, and an empty one for null. */
export function signInErrorText(word: string | null): string {
  if (word === null) return '';
  const known = Object.entries(SIGN_IN_ERRORS).find(([reason]) => reason === word);
  return known ? `You were not signed in: ${known[1]}.` : 'You were not signed in.';
}
