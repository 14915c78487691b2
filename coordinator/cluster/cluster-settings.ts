/** Settings of a coordinator that shares its fleet with others through etcd. */
import { optionalTextSetting } from '../../shared/process/settings/setting-values.js';

export const CLUSTER_SETTINGS = {
  etcd: optionalTextSetting(
    'etcd of several coordinators, such as https://a:2379,https://b:2379; default: no etcd, one coordinator',
    'URLS',
  ),
  etcdCa: optionalTextSetting("authority of etcd's certificates", 'FILE'),
  etcdCert: optionalTextSetting('client certificate for etcd', 'FILE'),
  etcdKey: optionalTextSetting('key of --etcd-cert', 'FILE'),
};
