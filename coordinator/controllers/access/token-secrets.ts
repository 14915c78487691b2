/**
 * Fills Secrets of type `kubernetes.io/service-account-token` with a token of their account, and deletes them with the
 * account (`pkg/controller/serviceaccount/tokens_controller.go`). The token is valid as long as the Secret contains it.
 */
import type { ServiceAccount } from '../../../shared/kube/access/service-account-types.js';
import { unlessGone } from '../../../shared/kube/objects/api-status.js';
import type { Secret } from '../../../shared/kube/objects/config-types.js';
import { type KubeObject, refText } from '../../../shared/kube/objects/meta.js';
import type { Logger } from '../../../shared/process/output/logger.js';
import type { Clock } from '../../../shared/process/time/clock.js';
import type { Informers, ObjectChange } from '../../informers/informer.js';
import {
  ACCOUNT_NAME_ANNOTATION,
  ACCOUNT_TOKEN_SECRET_TYPE,
  ACCOUNT_UID_ANNOTATION,
} from '../../kinds/config/secret-kind.js';
import { secretKind, serviceAccountKind } from '../../kinds/index.js';
import type { Registry } from '../../registry/registry.js';
import { splitKey } from '../queue/object-key.js';
import { type QueueMeter, type ReconcileContext, Worker } from '../queue/reconcile-worker.js';
import type { TrustSource } from './root-ca-publisher.js';

/** Signs a token that is bound to account and Secret and does not expire. */
export interface SecretTokenIssuer {
  issueForSecret(request: {
    serviceAccount: { namespace: string; name: string; uid: string };
    secret: { name: string; uid: string };
  }): Promise<string>;
}

interface TokenSecretsDeps {
  registry: Registry;
  informers: Informers;
  trust: TrustSource;
  tokens: SecretTokenIssuer;
  queueMeter?: QueueMeter;
  clock: Clock;
  log: Logger;
}

export class TokenSecrets {
  readonly #deps: TokenSecretsDeps;
  readonly #worker: Worker;
  /** Keys of token Secrets by key of their account, so that a change of an account scans no other Secrets. */
  readonly #byAccount = new Map<string, Set<string>>();
  /** Keys of accounts by key of a deleted Secret, until the account no longer lists it. */
  readonly #deletedOf = new Map<string, string>();

  constructor(deps: TokenSecretsDeps) {
    this.#deps = deps;
    this.#worker = new Worker({
      name: 'serviceaccount-token-controller',
      reconcile: (key, context) => this.#reconcile(key, context),
      ...deps,
    });
    deps.informers.secrets.onChange((change) => this.#secretChanged(change));
    deps.informers.serviceAccounts.onChange(({ previous, current }) => {
      const account = current ?? previous;
      if (account && previous?.metadata.uid !== current?.metadata.uid)
        this.#requeue(refText(account.metadata));
    });
    deps.trust.onTrustChange(() => {
      for (const account of this.#byAccount.keys()) this.#requeue(account);
    });
  }

  stop(): Promise<void> {
    return this.#worker.stop();
  }

  #secretChanged({ previous, current }: ObjectChange<Secret>): void {
    for (const each of [previous, current]) {
      if (!each || each.type !== ACCOUNT_TOKEN_SECRET_TYPE) continue;
      const account = accountKeyOf(each);
      const keys = this.#byAccount.get(account) ?? new Set();
      const key = refText(each.metadata);
      if (each === current) keys.add(key);
      else keys.delete(key);
      if (keys.size > 0) this.#byAccount.set(account, keys);
      else this.#byAccount.delete(account);
      if (!current) this.#deletedOf.set(key, account);
      this.#worker.queue.add(key);
    }
  }

  #requeue(account: string): void {
    for (const key of this.#byAccount.get(account) ?? []) this.#worker.queue.add(key);
  }

  async #reconcile(key: string, context: ReconcileContext): Promise<void> {
    const { registry, informers } = this.#deps;
    const ref = splitKey(key);
    const secret = informers.secrets.get(ref);
    if (!secret) return this.#withdraw(key, context);
    if (secret.type !== ACCOUNT_TOKEN_SECRET_TYPE || secret.metadata.deletionTimestamp) return;
    const account = informers.serviceAccounts.get(splitKey(accountKeyOf(secret)));
    const preconditions = uidOf(secret);
    if (!isOwnAccount(secret, account)) {
      await unlessGone(async () => {
        context.observeWrite((await registry.delete(secretKind, ref, { preconditions })).object);
      });
      return;
    }
    const bundle = this.#deps.trust.trustBundle();
    if (bundle === undefined || isFilled(secret, account, bundle)) return;
    const token = secret.data?.token || base64(await this.#issue(secret, account));
    await unlessGone(async () => {
      const record = await registry.modify(
        secretKind,
        ref,
        (next) => fill(next, account, { bundle, token }),
        {
          preconditions,
        },
      );
      context.observeWrite(record.object());
    });
  }

  /** Removes a deleted Secret from the list of its account. */
  async #withdraw(key: string, context: ReconcileContext): Promise<void> {
    const { registry, informers } = this.#deps;
    const ref = splitKey(this.#deletedOf.get(key) ?? '');
    const { name } = splitKey(key);
    if (informers.serviceAccounts.get(ref)?.secrets?.some((each) => each.name === name)) {
      await unlessGone(async () => {
        const record = await registry.modify(serviceAccountKind, ref, (account) => {
          account.secrets = (account.secrets ?? []).filter((each) => each.name !== name);
          return undefined;
        });
        context.observeWrite(record.object());
      });
    }
    this.#deletedOf.delete(key);
  }

  #issue({ metadata }: Secret, account: ServiceAccount): Promise<string> {
    const { namespace = '', name, uid = '' } = account.metadata;
    return this.#deps.tokens.issueForSecret({
      serviceAccount: { namespace, name, uid },
      secret: { name: metadata.name, uid: metadata.uid ?? '' },
    });
  }
}

function accountKeyOf({ metadata }: Secret): string {
  const name = metadata.annotations?.[ACCOUNT_NAME_ANNOTATION] ?? '';
  return refText({ namespace: metadata.namespace ?? '', name });
}

function uidOf({ metadata }: KubeObject): { uid?: string } {
  return metadata.uid === undefined ? {} : { uid: metadata.uid };
}

/** False if the account does not exist, or is another one of the same name than the Secret was filled for. */
function isOwnAccount({ metadata }: Secret, account: ServiceAccount | undefined): account is ServiceAccount {
  const uid = metadata.annotations?.[ACCOUNT_UID_ANNOTATION];
  return account !== undefined && (!uid || uid === account.metadata.uid);
}

function isFilled({ data = {}, metadata }: Secret, account: ServiceAccount, bundle: string): boolean {
  return (
    Boolean(data.token) &&
    Boolean(data.namespace) &&
    data['ca.crt'] === base64(bundle) &&
    metadata.annotations?.[ACCOUNT_UID_ANNOTATION] === account.metadata.uid
  );
}

/** Keeps a token that another writer has stored. A client that removes the token gets another one. */
function fill(
  secret: Secret,
  { metadata: account }: ServiceAccount,
  { bundle, token }: { bundle: string; token: string },
): undefined {
  const { namespace = '' } = account;
  secret.data = {
    ...secret.data,
    'ca.crt': base64(bundle),
    namespace: secret.data?.namespace || base64(namespace),
    token: secret.data?.token || token,
  };
  secret.metadata.annotations = {
    ...secret.metadata.annotations,
    ...(account.uid ? { [ACCOUNT_UID_ANNOTATION]: account.uid } : {}),
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
