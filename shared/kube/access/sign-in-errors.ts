/** Errors of OpenID Connect sign-ins. The coordinator puts the code into the URL; the console shows the text. */

/** Texts for the user. Details of the issuer are only logged, because anyone can forge a URL. */
export const SIGN_IN_ERRORS = {
  NotBegun: 'the sign-in has expired, or did not start here: try again',
  Host: 'the Host header must be HOST:PORT',
  Unreachable: 'the issuer is unreachable',
  Busy: 'too many concurrent sign-ins: try again later',
  Undiscovered: 'the issuer does not publish its sign-in address',
  Issuer: "the issuer rejected the sign-in: see the coordinator's log",
  NoCode: 'the issuer returned no authorization code',
  NoToken: 'the issuer returned no ID token: check that the scope openid is allowed',
  OtherSignIn: 'the ID token belongs to another sign-in',
  NotAccepted: 'the coordinator rejected the ID token: see its log',
} as const;

export type SignInError = keyof typeof SIGN_IN_ERRORS;

/** Returns the text for the code in the URL. Returns a generic text for an unknown code, and an empty one for null. */
export function signInErrorText(word: string | null): string {
  if (word === null) return '';
  const known = Object.entries(SIGN_IN_ERRORS).find(([reason]) => reason === word);
  return known ? `Sign-in failed: ${known[1]}.` : 'Sign-in failed.';
}
