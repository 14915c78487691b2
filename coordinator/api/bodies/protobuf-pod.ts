/** Protobuf messages of a Pod with their field numbers: k8s.io/api `core/v1`, up to 1.35. */

/** Fields of Container and EphemeralContainer. */
const CONTAINER_FIELDS = `optional string name = 1; optional string image = 2; repeated string command = 3; repeated string args = 4;
  optional string workingDir = 5; repeated ContainerPort ports = 6; repeated EnvFromSource envFrom = 19; repeated EnvVar env = 7;
  optional ResourceRequirements resources = 8; repeated ContainerResizePolicy resizePolicy = 23; optional string restartPolicy = 24;
  repeated VolumeMount volumeMounts = 9; repeated VolumeDevice volumeDevices = 21; optional Probe livenessProbe = 10;
  optional Probe readinessProbe = 11; optional Probe startupProbe = 22; optional Lifecycle lifecycle = 12;
  optional string terminationMessagePath = 13; optional string terminationMessagePolicy = 20; optional string imagePullPolicy = 14;
  optional SecurityContext securityContext = 15; optional bool stdin = 16; optional bool stdinOnce = 17; optional bool tty = 18;
  repeated ContainerRestartRule restartPolicyRules = 25;`;

/** Uses messages that are defined in protobuf-body.ts. */
export const POD_DEFINITIONS = `
message Pod { optional ObjectMeta metadata = 1; optional PodSpec spec = 2; }
message PodSpec { repeated Volume volumes = 1; repeated Container initContainers = 20; repeated Container containers = 2;
  repeated EphemeralContainer ephemeralContainers = 34; optional string restartPolicy = 3; optional int64 terminationGracePeriodSeconds = 4;
  optional int64 activeDeadlineSeconds = 5; optional string dnsPolicy = 6; map<string, string> nodeSelector = 7;
  optional string serviceAccountName = 8; optional string serviceAccount = 9; optional bool automountServiceAccountToken = 21;
  optional string nodeName = 10; optional bool hostNetwork = 11; optional bool hostPID = 12; optional bool hostIPC = 13;
  optional bool shareProcessNamespace = 27; optional PodSecurityContext securityContext = 14; repeated LocalObjectReference imagePullSecrets = 15;
  optional string hostname = 16; optional string subdomain = 17; optional Affinity affinity = 18; optional string schedulerName = 19;
  repeated Toleration tolerations = 22; repeated HostAlias hostAliases = 23; optional string priorityClassName = 24; optional int32 priority = 25;
  optional PodDNSConfig dnsConfig = 26; repeated PodReadinessGate readinessGates = 28; optional string runtimeClassName = 29;
  optional bool enableServiceLinks = 30; optional string preemptionPolicy = 31; map<string, Quantity> overhead = 32;
  repeated TopologySpreadConstraint topologySpreadConstraints = 33; optional bool setHostnameAsFQDN = 35; optional PodOS os = 36;
  optional bool hostUsers = 37; repeated PodSchedulingGate schedulingGates = 38; repeated PodResourceClaim resourceClaims = 39;
  optional ResourceRequirements resources = 40; optional string hostnameOverride = 41; }
message Volume { optional string name = 1; optional VolumeSource volumeSource = 2; }
message VolumeSource { optional HostPathVolumeSource hostPath = 1; optional EmptyDirVolumeSource emptyDir = 2;
  optional GCEPersistentDiskVolumeSource gcePersistentDisk = 3; optional AWSElasticBlockStoreVolumeSource awsElasticBlockStore = 4;
  optional GitRepoVolumeSource gitRepo = 5; optional SecretVolumeSource secret = 6; optional NFSVolumeSource nfs = 7;
  optional ISCSIVolumeSource iscsi = 8; optional GlusterfsVolumeSource glusterfs = 9;
  optional PersistentVolumeClaimVolumeSource persistentVolumeClaim = 10; optional RBDVolumeSource rbd = 11;
  optional FlexVolumeSource flexVolume = 12; optional CinderVolumeSource cinder = 13; optional CephFSVolumeSource cephfs = 14;
  optional FlockerVolumeSource flocker = 15; optional DownwardAPIVolumeSource downwardAPI = 16; optional FCVolumeSource fc = 17;
  optional AzureFileVolumeSource azureFile = 18; optional ConfigMapVolumeSource configMap = 19;
  optional VsphereVirtualDiskVolumeSource vsphereVolume = 20; optional QuobyteVolumeSource quobyte = 21;
  optional AzureDiskVolumeSource azureDisk = 22; optional PhotonPersistentDiskVolumeSource photonPersistentDisk = 23;
  optional ProjectedVolumeSource projected = 26; optional PortworxVolumeSource portworxVolume = 24; optional ScaleIOVolumeSource scaleIO = 25;
  optional StorageOSVolumeSource storageos = 27; optional CSIVolumeSource csi = 28; optional EphemeralVolumeSource ephemeral = 29;
  optional ImageVolumeSource image = 30; }
message HostPathVolumeSource { optional string path = 1; optional string type = 2; }
message EmptyDirVolumeSource { optional string medium = 1; optional Quantity sizeLimit = 2; }
message Quantity { optional string string = 1; }
message GCEPersistentDiskVolumeSource { optional string pdName = 1; optional string fsType = 2; optional int32 partition = 3;
  optional bool readOnly = 4; }
message AWSElasticBlockStoreVolumeSource { optional string volumeID = 1; optional string fsType = 2; optional int32 partition = 3;
  optional bool readOnly = 4; }
message GitRepoVolumeSource { optional string repository = 1; optional string revision = 2; optional string directory = 3; }
message SecretVolumeSource { optional string secretName = 1; repeated KeyToPath items = 2; optional int32 defaultMode = 3;
  optional bool optional = 4; }
message KeyToPath { optional string key = 1; optional string path = 2; optional int32 mode = 3; }
message NFSVolumeSource { optional string server = 1; optional string path = 2; optional bool readOnly = 3; }
message ISCSIVolumeSource { optional string targetPortal = 1; optional string iqn = 2; optional int32 lun = 3; optional string iscsiInterface = 4;
  optional string fsType = 5; optional bool readOnly = 6; repeated string portals = 7; optional bool chapAuthDiscovery = 8;
  optional bool chapAuthSession = 11; optional LocalObjectReference secretRef = 10; optional string initiatorName = 12; }
message GlusterfsVolumeSource { optional string endpoints = 1; optional string path = 2; optional bool readOnly = 3; }
message PersistentVolumeClaimVolumeSource { optional string claimName = 1; optional bool readOnly = 2; }
message RBDVolumeSource { repeated string monitors = 1; optional string image = 2; optional string fsType = 3; optional string pool = 4;
  optional string user = 5; optional string keyring = 6; optional LocalObjectReference secretRef = 7; optional bool readOnly = 8; }
message FlexVolumeSource { optional string driver = 1; optional string fsType = 2; optional LocalObjectReference secretRef = 3;
  optional bool readOnly = 4; map<string, string> options = 5; }
message CinderVolumeSource { optional string volumeID = 1; optional string fsType = 2; optional bool readOnly = 3;
  optional LocalObjectReference secretRef = 4; }
message CephFSVolumeSource { repeated string monitors = 1; optional string path = 2; optional string user = 3; optional string secretFile = 4;
  optional LocalObjectReference secretRef = 5; optional bool readOnly = 6; }
message FlockerVolumeSource { optional string datasetName = 1; optional string datasetUUID = 2; }
message DownwardAPIVolumeSource { repeated DownwardAPIVolumeFile items = 1; optional int32 defaultMode = 2; }
message DownwardAPIVolumeFile { optional string path = 1; optional ObjectFieldSelector fieldRef = 2;
  optional ResourceFieldSelector resourceFieldRef = 3; optional int32 mode = 4; }
message ObjectFieldSelector { optional string apiVersion = 1; optional string fieldPath = 2; }
message ResourceFieldSelector { optional string containerName = 1; optional string resource = 2; optional Quantity divisor = 3; }
message FCVolumeSource { repeated string targetWWNs = 1; optional int32 lun = 2; optional string fsType = 3; optional bool readOnly = 4;
  repeated string wwids = 5; }
message AzureFileVolumeSource { optional string secretName = 1; optional string shareName = 2; optional bool readOnly = 3; }
message ConfigMapVolumeSource { optional LocalObjectReference localObjectReference = 1; repeated KeyToPath items = 2;
  optional int32 defaultMode = 3; optional bool optional = 4; }
message VsphereVirtualDiskVolumeSource { optional string volumePath = 1; optional string fsType = 2; optional string storagePolicyName = 3;
  optional string storagePolicyID = 4; }
message QuobyteVolumeSource { optional string registry = 1; optional string volume = 2; optional bool readOnly = 3; optional string user = 4;
  optional string group = 5; optional string tenant = 6; }
message AzureDiskVolumeSource { optional string diskName = 1; optional string diskURI = 2; optional string cachingMode = 3;
  optional string fsType = 4; optional bool readOnly = 5; optional string kind = 6; }
message PhotonPersistentDiskVolumeSource { optional string pdID = 1; optional string fsType = 2; }
message ProjectedVolumeSource { repeated VolumeProjection sources = 1; optional int32 defaultMode = 2; }
message VolumeProjection { optional SecretProjection secret = 1; optional DownwardAPIProjection downwardAPI = 2;
  optional ConfigMapProjection configMap = 3; optional ServiceAccountTokenProjection serviceAccountToken = 4;
  optional ClusterTrustBundleProjection clusterTrustBundle = 5; optional PodCertificateProjection podCertificate = 6; }
message SecretProjection { optional LocalObjectReference localObjectReference = 1; repeated KeyToPath items = 2; optional bool optional = 4; }
message DownwardAPIProjection { repeated DownwardAPIVolumeFile items = 1; }
message ConfigMapProjection { optional LocalObjectReference localObjectReference = 1; repeated KeyToPath items = 2; optional bool optional = 4; }
message ServiceAccountTokenProjection { optional string audience = 1; optional int64 expirationSeconds = 2; optional string path = 3; }
message ClusterTrustBundleProjection { optional string name = 1; optional string signerName = 2; optional LabelSelector labelSelector = 3;
  optional bool optional = 5; optional string path = 4; }
message PortworxVolumeSource { optional string volumeID = 1; optional string fsType = 2; optional bool readOnly = 3; }
message ScaleIOVolumeSource { optional string gateway = 1; optional string system = 2; optional LocalObjectReference secretRef = 3;
  optional bool sslEnabled = 4; optional string protectionDomain = 5; optional string storagePool = 6; optional string storageMode = 7;
  optional string volumeName = 8; optional string fsType = 9; optional bool readOnly = 10; }
message StorageOSVolumeSource { optional string volumeName = 1; optional string volumeNamespace = 2; optional string fsType = 3;
  optional bool readOnly = 4; optional LocalObjectReference secretRef = 5; }
message CSIVolumeSource { optional string driver = 1; optional bool readOnly = 2; optional string fsType = 3;
  map<string, string> volumeAttributes = 4; optional LocalObjectReference nodePublishSecretRef = 5; }
message EphemeralVolumeSource { optional PersistentVolumeClaimTemplate volumeClaimTemplate = 1; }
message PersistentVolumeClaimTemplate { optional ObjectMeta metadata = 1; optional PersistentVolumeClaimSpec spec = 2; }
message PersistentVolumeClaimSpec { repeated string accessModes = 1; optional LabelSelector selector = 4;
  optional VolumeResourceRequirements resources = 2; optional string volumeName = 3; optional string storageClassName = 5;
  optional string volumeMode = 6; optional TypedLocalObjectReference dataSource = 7; optional TypedObjectReference dataSourceRef = 8;
  optional string volumeAttributesClassName = 9; }
message VolumeResourceRequirements { map<string, Quantity> limits = 1; map<string, Quantity> requests = 2; }
message TypedLocalObjectReference { optional string apiGroup = 1; optional string kind = 2; optional string name = 3; }
message TypedObjectReference { optional string apiGroup = 1; optional string kind = 2; optional string name = 3; optional string namespace = 4; }
message ImageVolumeSource { optional string reference = 1; optional string pullPolicy = 2; }
message Container { ${CONTAINER_FIELDS} }
message ContainerPort { optional string name = 1; optional int32 hostPort = 2; optional int32 containerPort = 3; optional string protocol = 4;
  optional string hostIP = 5; }
message EnvFromSource { optional string prefix = 1; optional ConfigMapEnvSource configMapRef = 2; optional SecretEnvSource secretRef = 3; }
message ConfigMapEnvSource { optional LocalObjectReference localObjectReference = 1; optional bool optional = 2; }
message SecretEnvSource { optional LocalObjectReference localObjectReference = 1; optional bool optional = 2; }
message EnvVar { optional string name = 1; optional string value = 2; optional EnvVarSource valueFrom = 3; }
message EnvVarSource { optional ObjectFieldSelector fieldRef = 1; optional ResourceFieldSelector resourceFieldRef = 2;
  optional ConfigMapKeySelector configMapKeyRef = 3; optional SecretKeySelector secretKeyRef = 4; optional FileKeySelector fileKeyRef = 5; }
message ConfigMapKeySelector { optional LocalObjectReference localObjectReference = 1; optional string key = 2; optional bool optional = 3; }
message SecretKeySelector { optional LocalObjectReference localObjectReference = 1; optional string key = 2; optional bool optional = 3; }
message ResourceRequirements { map<string, Quantity> limits = 1; map<string, Quantity> requests = 2; repeated ResourceClaim claims = 3; }
message ResourceClaim { optional string name = 1; optional string request = 2; }
message ContainerResizePolicy { optional string resourceName = 1; optional string restartPolicy = 2; }
message VolumeMount { optional string name = 1; optional bool readOnly = 2; optional string recursiveReadOnly = 7; optional string mountPath = 3;
  optional string subPath = 4; optional string mountPropagation = 5; optional string subPathExpr = 6; }
message VolumeDevice { optional string name = 1; optional string devicePath = 2; }
message Probe { optional ProbeHandler handler = 1; optional int32 initialDelaySeconds = 2; optional int32 timeoutSeconds = 3;
  optional int32 periodSeconds = 4; optional int32 successThreshold = 5; optional int32 failureThreshold = 6;
  optional int64 terminationGracePeriodSeconds = 7; }
message ProbeHandler { optional ExecAction exec = 1; optional HTTPGetAction httpGet = 2; optional TCPSocketAction tcpSocket = 3;
  optional GRPCAction grpc = 4; }
message ExecAction { repeated string command = 1; }
message HTTPGetAction { optional string path = 1; optional IntOrString port = 2; optional string host = 3; optional string scheme = 4;
  repeated HTTPHeader httpHeaders = 5; }
message HTTPHeader { optional string name = 1; optional string value = 2; }
message TCPSocketAction { optional IntOrString port = 1; optional string host = 2; }
message GRPCAction { optional int32 port = 1; optional string service = 2; }
message Lifecycle { optional LifecycleHandler postStart = 1; optional LifecycleHandler preStop = 2; optional string stopSignal = 3; }
message LifecycleHandler { optional ExecAction exec = 1; optional HTTPGetAction httpGet = 2; optional TCPSocketAction tcpSocket = 3;
  optional SleepAction sleep = 4; }
message SleepAction { optional int64 seconds = 1; }
message SecurityContext { optional Capabilities capabilities = 1; optional bool privileged = 2; optional SELinuxOptions seLinuxOptions = 3;
  optional WindowsSecurityContextOptions windowsOptions = 10; optional int64 runAsUser = 4; optional int64 runAsGroup = 8;
  optional bool runAsNonRoot = 5; optional bool readOnlyRootFilesystem = 6; optional bool allowPrivilegeEscalation = 7;
  optional string procMount = 9; optional SeccompProfile seccompProfile = 11; optional AppArmorProfile appArmorProfile = 12; }
message Capabilities { repeated string add = 1; repeated string drop = 2; }
message SELinuxOptions { optional string user = 1; optional string role = 2; optional string type = 3; optional string level = 4; }
message WindowsSecurityContextOptions { optional string gmsaCredentialSpecName = 1; optional string gmsaCredentialSpec = 2;
  optional string runAsUserName = 3; optional bool hostProcess = 4; }
message SeccompProfile { optional string type = 1; optional string localhostProfile = 2; }
message AppArmorProfile { optional string type = 1; optional string localhostProfile = 2; }
message EphemeralContainer { optional EphemeralContainerCommon ephemeralContainerCommon = 1; optional string targetContainerName = 2; }
message EphemeralContainerCommon { ${CONTAINER_FIELDS} }
message PodSecurityContext { optional SELinuxOptions seLinuxOptions = 1; optional WindowsSecurityContextOptions windowsOptions = 8;
  optional int64 runAsUser = 2; optional int64 runAsGroup = 6; optional bool runAsNonRoot = 3; repeated int64 supplementalGroups = 4;
  optional string supplementalGroupsPolicy = 12; optional int64 fsGroup = 5; repeated Sysctl sysctls = 7; optional string fsGroupChangePolicy = 9;
  optional SeccompProfile seccompProfile = 10; optional AppArmorProfile appArmorProfile = 11; optional string seLinuxChangePolicy = 13; }
message Sysctl { optional string name = 1; optional string value = 2; }
message Affinity { optional NodeAffinity nodeAffinity = 1; optional PodAffinity podAffinity = 2; optional PodAntiAffinity podAntiAffinity = 3; }
message NodeAffinity { optional NodeSelector requiredDuringSchedulingIgnoredDuringExecution = 1;
  repeated PreferredSchedulingTerm preferredDuringSchedulingIgnoredDuringExecution = 2; }
message NodeSelector { repeated NodeSelectorTerm nodeSelectorTerms = 1; }
message NodeSelectorTerm { repeated NodeSelectorRequirement matchExpressions = 1; repeated NodeSelectorRequirement matchFields = 2; }
message NodeSelectorRequirement { optional string key = 1; optional string operator = 2; repeated string values = 3; }
message PreferredSchedulingTerm { optional int32 weight = 1; optional NodeSelectorTerm preference = 2; }
message PodAffinity { repeated PodAffinityTerm requiredDuringSchedulingIgnoredDuringExecution = 1;
  repeated WeightedPodAffinityTerm preferredDuringSchedulingIgnoredDuringExecution = 2; }
message PodAffinityTerm { optional LabelSelector labelSelector = 1; repeated string namespaces = 2; optional string topologyKey = 3;
  optional LabelSelector namespaceSelector = 4; repeated string matchLabelKeys = 5; repeated string mismatchLabelKeys = 6; }
message WeightedPodAffinityTerm { optional int32 weight = 1; optional PodAffinityTerm podAffinityTerm = 2; }
message PodAntiAffinity { repeated PodAffinityTerm requiredDuringSchedulingIgnoredDuringExecution = 1;
  repeated WeightedPodAffinityTerm preferredDuringSchedulingIgnoredDuringExecution = 2; }
message Toleration { optional string key = 1; optional string operator = 2; optional string value = 3; optional string effect = 4;
  optional int64 tolerationSeconds = 5; }
message HostAlias { optional string ip = 1; repeated string hostnames = 2; }
message PodDNSConfig { repeated string nameservers = 1; repeated string searches = 2; repeated PodDNSConfigOption options = 3; }
message PodDNSConfigOption { optional string name = 1; optional string value = 2; }
message PodReadinessGate { optional string conditionType = 1; }
message TopologySpreadConstraint { optional int32 maxSkew = 1; optional string topologyKey = 2; optional string whenUnsatisfiable = 3;
  optional LabelSelector labelSelector = 4; optional int32 minDomains = 5; optional string nodeAffinityPolicy = 6;
  optional string nodeTaintsPolicy = 7; repeated string matchLabelKeys = 8; }
message PodOS { optional string name = 1; }
message PodSchedulingGate { optional string name = 1; }
message PodResourceClaim { optional string name = 1; optional string resourceClaimName = 3; optional string resourceClaimTemplateName = 4; }
message ContainerRestartRule { optional string action = 1; optional ContainerRestartRuleOnExitCodes exitCodes = 2; }
message ContainerRestartRuleOnExitCodes { optional string operator = 1; repeated int32 values = 2; }
message FileKeySelector { optional string volumeName = 1; optional string path = 2; optional string key = 3; optional bool optional = 4; }
message PodCertificateProjection {
  optional string signerName = 1; optional string keyType = 2; optional int32 maxExpirationSeconds = 3;
  optional string credentialBundlePath = 4; optional string keyPath = 5; optional string certificateChainPath = 6; }
`;
