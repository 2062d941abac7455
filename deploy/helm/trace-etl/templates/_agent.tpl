{{/* log-agent.yaml: the chart's keys and the user's. */}}
{{- define "trace-etl.agent.config" -}}
{{- $agent := .Values.agent }}
{{- include "trace-etl.refuse" (dict "where" "agent.config" "config" $agent.config "owned" (include "trace-etl.agent.owned" . | fromYaml)) }}
{{- if and $agent.tokenSecret (not $agent.tls.secret) (not (dig "otlp" "allow-clear-text-token" false $agent.config)) }}
{{- fail "agent.tokenSecret: requires agent.tls.secret, because tokens would be sent in clear text; if something else encrypts, set agent.config.otlp.allow-clear-text-token: true" }}
{{- end }}
{{- if and $agent.telemetry.tokenSecret (not $agent.telemetry.tls.secret) (not (dig "telemetry" "allow-clear-text-token" false $agent.config)) }}
{{- fail "agent.telemetry.tokenSecret: requires agent.telemetry.tls.secret, because tokens would be sent in clear text; if something else encrypts, set agent.config.telemetry.allow-clear-text-token: true" }}
{{- end }}
{{- mustMergeOverwrite (deepCopy $agent.config) (include "trace-etl.agent.own" . | fromYaml) | toYaml }}
{{- end }}

{{- define "trace-etl.agent.own" -}}
state-directory: /var/lib/trace-etl
otlp:
  grpc-port: 4317
  http-port: 4318
  {{- with .Values.agent.tls }}
  {{- if .secret }}
  tls:
    certificate-file: /etc/trace-etl/tls/otlp/tls.crt
    private-key-file: /etc/trace-etl/tls/otlp/tls.key
    {{- if .clientCaSecret }}
    client-ca-file: /etc/trace-etl/tls/otlp/ca.crt
    {{- end }}
  {{- end }}
  {{- end }}
  {{- if .Values.agent.tokenSecret }}
  token-file: /etc/trace-etl/secrets/otlp/token
  {{- end }}
{{- if .Values.agent.traceLogs.paths }}
files:
  paths:
    {{- toYaml .Values.agent.traceLogs.paths | nindent 4 }}
{{- end }}
ring:
  enabled: {{ .Values.agent.rings.enabled }}
  {{- if .Values.agent.rings.enabled }}
  directory: {{ .Values.agent.rings.hostPath }}
  {{- with .Values.agent.rings.group }}
  group: {{ . | int64 | quote }}
  {{- end }}
  {{- end }}
routing:
  file: /etc/trace-etl/routing/routing.yaml
  hotspots-topic: {{ .Values.rocketmq.topics.routing }}
  {{- if .Values.rocketmq.routingKeysSecret }}
  public-keys-file: /etc/trace-etl/secrets/routing/public-keys.pem
  {{- end }}
filters:
  file: /etc/trace-etl/filters/filters.yaml
rocketmq:
  name-server: {{ include "trace-etl.nameServer" . | quote }}
  topic: {{ .Values.rocketmq.topics.spans }}
  {{- /* The default is left out: edges.enabled then rolls no agents, and earlier releases lack the key. */}}
  {{- if ne .Values.rocketmq.topics.edges "trace-edges" }}
  edges-topic: {{ .Values.rocketmq.topics.edges }}
  {{- end }}
  {{- if .Values.rocketmq.access.agentSecret }}
  access-key-file: /etc/trace-etl/secrets/rocketmq/access-key
  secret-key-file: /etc/trace-etl/secrets/rocketmq/secret-key
  {{- end }}
  {{- if .Values.rocketmq.tls.enabled }}
  tls: true
  {{- if .Values.rocketmq.tls.caSecret }}
  tls-ca-file: /etc/trace-etl/tls/rocketmq/ca.crt
  {{- end }}
  {{- end }}
{{- if .Values.agent.kubernetes.enabled }}
kubernetes:
  enabled: true
  token-file: /etc/trace-etl/secrets/kubernetes/token
  ca-file: /etc/trace-etl/secrets/kubernetes/ca.crt
{{- end }}
telemetry:
  port: 9465
  {{- if .Values.agent.telemetry.tls.secret }}
  tls:
    certificate-file: /etc/trace-etl/tls/telemetry/tls.crt
    private-key-file: /etc/trace-etl/tls/telemetry/tls.key
  {{- end }}
  {{- if .Values.agent.telemetry.tokenSecret }}
  token-file: /etc/trace-etl/secrets/telemetry/token
  {{- end }}
{{- end }}

{{/* The agents' own account if they have rights, which no other pod needs. */}}
{{- define "trace-etl.agent.serviceAccount" -}}
{{- if .Values.agent.kubernetes.enabled }}
{{- printf "%s-agent" (include "trace-etl.fullname" .) }}
{{- else }}
{{- include "trace-etl.serviceAccount" . }}
{{- end }}
{{- end }}

{{- define "trace-etl.agent.owned" -}}
state-directory: agent.spool
spool/directory: agent.spool
otlp/grpc-port: agent.hostPorts
otlp/http-port: agent.hostPorts
otlp/tls: agent.tls
otlp/token: agent.tokenSecret
otlp/token-file: agent.tokenSecret
files/paths: agent.traceLogs.paths
ring/enabled: agent.rings.enabled
ring/directory: agent.rings.hostPath
ring/group: agent.rings.group
routing/file: agent.routing
routing/hotspots-topic: rocketmq.topics.routing
routing/public-keys-file: rocketmq.routingKeysSecret
filters/file: agent.filters
rocketmq/name-server: rocketmq.nameServers
rocketmq/topic: rocketmq.topics.spans
rocketmq/edges-topic: rocketmq.topics.edges
rocketmq/access-key: rocketmq.access.agentSecret
rocketmq/access-key-file: rocketmq.access.agentSecret
rocketmq/secret-key: rocketmq.access.agentSecret
rocketmq/secret-key-file: rocketmq.access.agentSecret
rocketmq/tls: rocketmq.tls.enabled
rocketmq/tls-ca-file: rocketmq.tls.caSecret
kubernetes/enabled: agent.kubernetes.enabled
kubernetes/node-name: agent.kubernetes.enabled
kubernetes/token-file: agent.kubernetes.enabled
kubernetes/ca-file: agent.kubernetes.enabled
telemetry/enabled: nothing, as probes need the port
telemetry/port: nothing, as probes need the port
telemetry/host: nothing, as probes need the port
telemetry/tls: agent.telemetry.tls.secret
telemetry/token: agent.telemetry.tokenSecret
telemetry/token-file: agent.telemetry.tokenSecret
{{- end }}
