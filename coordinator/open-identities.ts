/**
 * Builds the authenticators and the authorizer from the settings: keys, token file, OpenID Connect, client
 * certificates, roles.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NODE_USER_PREFIX, NODES_GROUP } from '../shared/kube/access/node-identity.js';
import type { UserInfo } from '../shared/kube/access/rbac-types.js';
import { EXIT_CODES, ExitError } from '../shared/process/exit-error.js';
import type { Logger } from '../shared/process/output/logger.js';
import type { Clock } from '../shared/process/time/clock.js';
import { systemRandom } from '../shared/process/time/random.js';
import { type Authenticator, createIdentities, type Identities } from './access/identities.js';
import { NodeAuthorizer } from './access/node-authorizer.js';
import { type Fetch, OidcAuthenticator } from './access/oidc-authenticator.js';
import { issuerFetch } from './access/oidc-fetch.js';
import { OidcSignIn } from './access/oidc-sign-in.js';
import { RbacAuthorizer } from './access/rbac-authorizer.js';
import { ISSUER, ServiceAccountTokens } from './access/service-account-tokens.js';
import { readTokenFile } from './access/static-token-file.js';
import { loadSigningKeys } from './access/token-signing-keys.js';
import { certificateUser } from './access/user-groups.js';
import type { CoordinatorSettings } from './coordinator-settings.js';
import type { Hub } from './hub/hub.js';
import type { Informers } from './informers/informer.js';
import { peerCertificateOf } from './pki/peer-certificate.js';
import type { Registry } from './registry/registry.js';

interface IdentitySources {
  settings: CoordinatorSettings;
  registry: Registry;
  informers: Informers;
  /** Authenticates the administrator's token. */
  admin: Authenticator;
  /** Authenticates hosts behind a proxy, by the bearer tokens of their links. */
  hosts: Authenticator;
  clock: Clock;
  log: Logger;
}

/** Throws `ExitError` if a file in the settings cannot be used. */
export async function openIdentities(sources: IdentitySources): Promise<Identities> {
  const { settings, registry, informers, admin, hosts, clock } = sources;
  const keys = await loadSigningKeys(join(settings.data, 'pki'));
  return createIdentities({
    authorizer: new NodeAuthorizer(new RbacAuthorizer(informers), informers),
    tokens: new ServiceAccountTokens({ keys, registry, clock, random: systemRandom }),
    others: [admin, hosts, ...tokenFile(settings), ...oidc(sources)],
    audience: ISSUER,
  });
}

function tokenFile({ tokenAuthFile: path }: CoordinatorSettings): Authenticator[] {
  return path === undefined ? [] : [readTokenFile(readText(path, '--token-auth-file'), path)];
}

function oidc({ settings, clock, log }: IdentitySources): Authenticator[] {
  const { oidcIssuerUrl: issuer, oidcClientId: clientId, oidcUsernamePrefix } = settings;
  if (issuer === undefined && clientId === undefined) return [];
  if (issuer === undefined || clientId === undefined) {
    throw new ExitError(EXIT_CODES.usage, '--oidc-issuer-url and --oidc-client-id must be set together.');
  }
  if (!issuer.startsWith('https://')) {
    throw new ExitError(EXIT_CODES.usage, `--oidc-issuer-url: must begin with https://, not "${issuer}".`);
  }
  const authenticator = new OidcAuthenticator(
    {
      issuer,
      clientId,
      usernameClaim: settings.oidcUsernameClaim,
      ...(oidcUsernamePrefix === undefined ? {} : { usernamePrefix: oidcUsernamePrefix }),
      ...(settings.oidcGroupsClaim === undefined ? {} : { groupsClaim: settings.oidcGroupsClaim }),
      groupsPrefix: settings.oidcGroupsPrefix ?? '',
      requiredClaims: settings.oidcRequiredClaims,
      signingAlgorithms: settings.oidcSigningAlgs,
    },
    { fetch: fetchOf(settings), clock, log },
  );
  return [(token) => authenticator.authenticate(token)];
}

/**
 * Returns the console's sign-in at the issuer; undefined if no issuer is configured. Throws `ExitError` like
 * `openIdentities`.
 */
export function openSignIn({
  settings,
  clock,
  log,
}: Pick<IdentitySources, 'settings' | 'clock' | 'log'>): OidcSignIn | undefined {
  const { oidcIssuerUrl: issuer, oidcClientId: clientId, oidcClientSecretFile, oidcScopes } = settings;
  if (issuer === undefined || clientId === undefined) return undefined;
  const scopes = oidcScopes.split(',').filter(Boolean);
  const secret =
    oidcClientSecretFile === undefined
      ? {}
      : { clientSecret: readText(oidcClientSecretFile, '--oidc-client-secret-file').trim() };
  return new OidcSignIn({ issuer, clientId, scopes, ...secret }, { fetch: fetchOf(settings), clock, log });
}

function fetchOf({ oidcCaFile }: CoordinatorSettings): Fetch {
  return issuerFetch(oidcCaFile === undefined ? undefined : readText(oidcCaFile, '--oidc-ca-file'));
}

function readText(path: string, flag: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ExitError(EXIT_CODES.usage, `${flag}: ${why}.`);
  }
}

/**
 * Returns the user of a client certificate. A node's certificate is valid only while its key is registered, like for
 * its link.
 */
export function certificateUsers(
  hub: Pick<Hub, 'isRegisteredKey'>,
  clock: Clock,
): (socket: unknown) => UserInfo | undefined {
  return (socket) => {
    const peer = peerCertificateOf(socket, clock.now());
    if (!peer) return undefined;
    const saysNode = peer.organizations.includes(NODES_GROUP) || peer.commonName.startsWith(NODE_USER_PREFIX);
    return saysNode && !hub.isRegisteredKey(peer) ? undefined : certificateUser(peer);
  };
}

/** Authenticates hosts by the bearer tokens of their links. */
export function linkUsers(hub: Pick<Hub, 'nodeOfBearer'>): Authenticator {
  return (bearer) => {
    const node = hub.nodeOfBearer(bearer);
    if (node === undefined) return undefined;
    return certificateUser({ commonName: `${NODE_USER_PREFIX}${node}`, organizations: [NODES_GROUP] });
  };
}
