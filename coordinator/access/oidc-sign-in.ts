/**
 * Sign-in with an OpenID Connect issuer: authorization code with PKCE (RFC 6749, 7636; OpenID Connect Core 3.1). The
 * coordinator stores no attempts: the state of an attempt is in a cookie of the user's browser.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { decodeJwt, errors } from 'jose';
import { SIGN_IN_ERRORS, type SignInError } from '../../shared/kube/access/sign-in-errors.js';
import type { Logger } from '../../shared/process/output/logger.js';
import type { Clock } from '../../shared/process/time/clock.js';
import type { Fetch } from './oidc-authenticator.js';

interface OidcClient {
  issuer: string;
  clientId: string;
  /** Absent: a public client, authenticated only by PKCE. */
  clientSecret?: string;
  scopes: readonly string[];
}

/** Redirect the browser to `url` and store `attempt` in a cookie. */
interface SignInStart {
  url: string;
  attempt: string;
}

/** The state of an attempt, in the browser's cookie. */
interface Attempt {
  state: string;
  nonce: string;
  verifier: string;
}

interface Endpoints {
  authorization: string;
  token: string;
  /** True if the client secret goes into the form, false for HTTP Basic. */
  takesForm: boolean;
}

/** Default for issuers that list no methods (OpenID Connect Discovery 3). */
const USUAL_WAYS = ['client_secret_basic'];
/** Cache time of the discovery, because an issuer may change its endpoints. */
const DISCOVERED_MS = 60_000;
/** Maximum concurrent requests to the issuer. Unauthenticated clients can cause them. */
const MAX_ASKED = 16;

/** The issuer or an intermediary refused the sign-in. */
export class SignInRefused extends Error {
  override name = 'SignInRefused';

  constructor(readonly reason: SignInError) {
    super(SIGN_IN_ERRORS[reason]);
  }
}

export class OidcSignIn {
  readonly #client: OidcClient;
  readonly #fetch: Fetch;
  readonly #clock: Clock;
  readonly #log: Logger;
  #discovered: { endpoints: Promise<Endpoints>; at: number } | undefined;
  #asked = 0;

  constructor(client: OidcClient, { fetch, clock, log }: { fetch: Fetch; clock: Clock; log: Logger }) {
    this.#client = client;
    this.#fetch = fetch;
    this.#clock = clock;
    this.#log = log.child({ component: 'oidc' });
  }

  /** `redirectUri`: where the issuer redirects the browser. Throws SignInRefused. */
  async start(redirectUri: string): Promise<SignInStart> {
    const authorization = new URL((await this.#endpoints()).authorization);
    const attempt: Attempt = { state: randomText(), nonce: randomText(), verifier: randomText() };
    const query = {
      response_type: 'code',
      client_id: this.#client.clientId,
      redirect_uri: redirectUri,
      scope: this.#client.scopes.join(' '),
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: createHash('sha256').update(attempt.verifier).digest('base64url'),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(query)) authorization.searchParams.set(name, value);
    return {
      url: authorization.href,
      attempt: Buffer.from(JSON.stringify(attempt)).toString('base64url'),
    };
  }

  /** Returns the ID token for the issuer's redirect. Only its nonce is verified. Throws SignInRefused. */
  async finish(attempt: string | undefined, query: URLSearchParams, redirectUri: string): Promise<string> {
    const { state, nonce, verifier } = attemptIn(attempt);
    const [code, refusal] = [query.get('code'), query.get('error')];
    if (!isSame(query.get('state') ?? '', state)) throw new SignInRefused('NotBegun');
    if (refusal !== null) {
      this.#log.warn({ error: refusal.slice(0, 80) }, 'the issuer refused a sign-in');
      throw new SignInRefused('Issuer');
    }
    if (code === null) throw new SignInRefused('NoCode');
    const token = await this.#exchange(code, verifier, redirectUri);
    if (!isSame(String(nonceOf(token) ?? ''), nonce)) throw new SignInRefused('OtherSignIn');
    return token;
  }

  async #exchange(code: string, verifier: string, redirectUri: string): Promise<string> {
    const { clientId, clientSecret } = this.#client;
    const { token: endpoint, takesForm } = await this.#endpoints();
    const isBasic = clientSecret !== undefined && !takesForm;
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
      ...(isBasic ? {} : { client_id: clientId }),
      ...(clientSecret === undefined || isBasic ? {} : { client_secret: clientSecret }),
    });
    const answer = await this.#ask(
      endpoint,
      body.toString(),
      isBasic ? basic(clientId, clientSecret) : undefined,
    );
    const { id_token: token } = answer;
    if (typeof token !== 'string') throw new SignInRefused('NoToken');
    return token;
  }

  /** Returns the endpoints, cached for a minute. A failed discovery is not cached. */
  #endpoints(): Promise<Endpoints> {
    const now = this.#clock.monotonic();
    const present = this.#discovered;
    if (present && now - present.at < DISCOVERED_MS) return present.endpoints;
    const endpoints = this.#discover();
    const discovered = { endpoints, at: now };
    this.#discovered = discovered;
    endpoints.catch(() => {
      if (this.#discovered === discovered) this.#discovered = undefined;
    });
    return endpoints;
  }

  async #discover(): Promise<Endpoints> {
    const { issuer } = this.#client;
    const found = await this.#ask(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    const { issuer: named, authorization_endpoint: authorization, token_endpoint: token } = found;
    const ways = found.token_endpoint_auth_methods_supported ?? USUAL_WAYS;
    if (
      named !== issuer ||
      typeof authorization !== 'string' ||
      !URL.canParse(authorization) ||
      typeof token !== 'string'
    ) {
      throw new SignInRefused('Undiscovered');
    }
    return { authorization, token, takesForm: Array.isArray(ways) && ways.includes('client_secret_post') };
  }

  async #ask(url: string, form?: string, authorization?: string): Promise<Record<string, unknown>> {
    if (this.#asked >= MAX_ASKED) throw new SignInRefused('Busy');
    this.#asked += 1;
    try {
      const answer = await this.#fetch(url, form, authorization);
      if (answer.ok) return (await answer.json()) as Record<string, unknown>;
      this.#log.warn({ code: answer.status }, 'the issuer refused a sign-in');
      throw new SignInRefused('Issuer');
    } catch (error) {
      if (error instanceof SignInRefused) throw error;
      this.#log.warn({ reason: String(error) }, 'the issuer could not be reached');
      throw new SignInRefused('Unreachable');
    } finally {
      this.#asked -= 1;
    }
  }
}

/** Name and secret are form-encoded before they are joined (RFC 6749, 2.3.1). */
function basic(clientId: string, secret: string): string {
  const [name, value] = [clientId, secret].map((text) =>
    new URLSearchParams({ x: text }).toString().slice(2),
  );
  return `Basic ${Buffer.from(`${name}:${value}`).toString('base64')}`;
}

function randomText(): string {
  return randomBytes(32).toString('base64url');
}

function attemptIn(text: string | undefined): Attempt {
  try {
    const { state, nonce, verifier } = JSON.parse(Buffer.from(text ?? '', 'base64url').toString());
    if ([state, nonce, verifier].every((value) => typeof value === 'string' && value !== '')) {
      return { state, nonce, verifier };
    }
  } catch {
    // An invalid cookie is refused below.
  }
  throw new SignInRefused('NotBegun');
}

function nonceOf(token: string): unknown {
  try {
    return decodeJwt(token).nonce;
  } catch (error) {
    if (error instanceof errors.JWTInvalid || error instanceof TypeError) return undefined;
    throw error;
  }
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
