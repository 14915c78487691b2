/** Protobuf messages of the kinds that `kubectl create pdb`, `quota` and `ingress` send: k8s.io/api, up to 1.35. */

/** Uses messages that are defined in protobuf-body.ts and protobuf-pod.ts. */
export const POLICY_DEFINITIONS = `
message PodDisruptionBudgetSpec { optional IntOrString minAvailable = 1; optional LabelSelector selector = 2; optional IntOrString maxUnavailable = 3; optional string unhealthyPodEvictionPolicy = 4; }
message PodDisruptionBudget { optional ObjectMeta metadata = 1; optional PodDisruptionBudgetSpec spec = 2; }
message ScopedResourceSelectorRequirement { optional string scopeName = 1; optional string operator = 2; repeated string values = 3; }
message ScopeSelector { repeated ScopedResourceSelectorRequirement matchExpressions = 1; }
message ResourceQuotaSpec { map<string, Quantity> hard = 1; repeated string scopes = 2; optional ScopeSelector scopeSelector = 3; }
message ResourceQuota { optional ObjectMeta metadata = 1; optional ResourceQuotaSpec spec = 2; }
message ServiceBackendPort { optional string name = 1; optional int32 number = 2; }
message IngressServiceBackend { optional string name = 1; optional ServiceBackendPort port = 2; }
message IngressBackend { optional TypedLocalObjectReference resource = 3; optional IngressServiceBackend service = 4; }
message HTTPIngressPath { optional string path = 1; optional IngressBackend backend = 2; optional string pathType = 3; }
message HTTPIngressRuleValue { repeated HTTPIngressPath paths = 1; }
message IngressRuleValue { optional HTTPIngressRuleValue http = 1; }
message IngressRule { optional string host = 1; optional IngressRuleValue ingressRuleValue = 2; }
message IngressTLS { repeated string hosts = 1; optional string secretName = 2; }
message IngressSpec { optional IngressBackend defaultBackend = 1; repeated IngressTLS tls = 2; repeated IngressRule rules = 3; optional string ingressClassName = 4; }
message Ingress { optional ObjectMeta metadata = 1; optional IngressSpec spec = 2; }
`;
