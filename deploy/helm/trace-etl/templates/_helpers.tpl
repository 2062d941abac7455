{{- define "trace-etl.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{/* Prefix of the names of objects, short enough for suffixes. */}}
{{- define "trace-etl.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 45 | trimSuffix "-" }}
{{- else if contains (include "trace-etl.name" .) .Release.Name }}
{{- .Release.Name | trunc 45 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "trace-etl.name" .) | trunc 45 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* Labels that select pods. Takes root and component. */}}
{{- define "trace-etl.selector" -}}
app.kubernetes.io/name: {{ include "trace-etl.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Labels of pods, without the chart's version, which would roll them at each upgrade. Takes root and component. */}}
{{- define "trace-etl.podLabels" -}}
{{ include "trace-etl.selector" . }}
app.kubernetes.io/part-of: trace-etl
{{- end }}

{{/* Labels of every object. Takes root and component. */}}
{{- define "trace-etl.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "trace-etl.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | trunc 63 | trimSuffix "-" | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/part-of: trace-etl
{{- end }}

{{/* Metadata of an object. Takes root, component and optionally name. */}}
{{- define "trace-etl.metadata" -}}
name: {{ printf "%s-%s" (include "trace-etl.fullname" .root) (default .component .name) }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "trace-etl.labels" . | nindent 2 }}
{{- end }}

{{- define "trace-etl.serviceAccount" -}}
{{- default (ternary (include "trace-etl.fullname" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name }}
{{- end }}

{{/* An image of the project. Takes root and of (the values of server or agent). */}}
{{- define "trace-etl.image" -}}
{{- $registry := .root.Values.image.registry | trimSuffix "/" }}
{{- $tag := coalesce .of.tag .root.Values.image.tag .root.Chart.AppVersion }}
{{- $version := ternary (printf ":%s" $tag) (printf "@%s" .of.digest) (empty .of.digest) }}
{{- printf "%s%s%s" (ternary "" (printf "%s/" $registry) (empty $registry)) .of.image $version }}
{{- end }}

{{- define "trace-etl.pullSecrets" -}}
{{- with .Values.image.pullSecrets -}}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{/* User of the project's images. Its group can read files of secrets. */}}
{{- define "trace-etl.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "trace-etl.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* Values that a pod gets unchanged. Takes the values of server or agent. */}}
{{- define "trace-etl.scheduling" -}}
{{- with .nodeSelector -}}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{- define "trace-etl.nameServer" -}}
{{- if .Values.rocketmq.nameServers }}
{{- join ";" .Values.rocketmq.nameServers }}
{{- else if .Values.demo.rocketmq.enabled }}
{{- printf "%s-rocketmq:9876" (include "trace-etl.fullname" .) }}
{{- else }}
{{- fail "rocketmq.nameServers: required, such as --set 'rocketmq.nameServers={mq-1:9876,mq-2:9876}'; for a trial use -f values-demo.yaml" }}
{{- end }}
{{- end }}

{{- define "trace-etl.elasticsearchUrls" -}}
{{- if .Values.elasticsearch.urls }}
{{- toJson .Values.elasticsearch.urls }}
{{- else if .Values.demo.elasticsearch.enabled }}
{{- list (printf "http://%s-elasticsearch:9200" (include "trace-etl.fullname" .)) | toJson }}
{{- else }}
{{- "[]" }}
{{- end }}
{{- end }}

{{/*
Refuses keys of a configuration that the chart sets itself, or that would put a secret into a
ConfigMap. Takes where, config and owned (the value to use instead, by key).
*/}}
{{- define "trace-etl.refuse" -}}
{{- $where := .where }}
{{- $config := .config }}
{{- range $path, $instead := .owned }}
  {{- $node := $config }}
  {{- $found := true }}
  {{- range $key := splitList "/" $path }}
    {{- if and $found (kindIs "map" $node) (hasKey $node $key) }}
      {{- $node = get $node $key }}
    {{- else }}
      {{- $found = false }}
    {{- end }}
  {{- end }}
  {{- if $found }}
    {{- fail (printf "%s.%s must not be in the configuration: use %s" $where ($path | replace "/" ".") $instead) }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Mounted files of a secret. Takes volume, secret and items (paths by key). */}}
{{- define "trace-etl.secretVolume" -}}
- name: {{ .volume }}
  secret:
    secretName: {{ .secret }}
    defaultMode: 0440
    {{- with .items }}
    items:
      {{- range $key, $path := . }}
      - {key: {{ $key | quote }}, path: {{ $path }}}
      {{- end }}
    {{- end }}
{{- end }}

{{/* The same for a key pair and optional CA certificates of clients. Takes volume, secret, caSecret, caKey. */}}
{{- define "trace-etl.tlsVolume" -}}
- name: {{ .volume }}
  projected:
    defaultMode: 0440
    sources:
      - secret:
          name: {{ .secret }}
          items: [{key: tls.crt, path: tls.crt}, {key: tls.key, path: tls.key}]
      {{- if .caSecret }}
      - secret:
          name: {{ .caSecret }}
          items: [{key: {{ .caKey | quote }}, path: ca.crt}]
      {{- end }}
{{- end }}
