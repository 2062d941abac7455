{{/* trace-etl-server.yaml: the chart's keys and the user's. */}}
{{- define "trace-etl.server.config" -}}
{{- $server := .Values.server }}
{{- include "trace-etl.refuse" (dict "where" "server.config" "config" $server.config "owned" (include "trace-etl.server.owned" . | fromYaml)) }}
{{- mustMergeOverwrite (deepCopy $server.config) (include "trace-etl.server.own" . | fromYaml) | toYaml }}
{{- end }}

{{- define "trace-etl.server.own" -}}
server:
  port: 8080
  {{- with .Values.server.tls }}
  {{- if .secret }}
  ssl:
    bundle: web
    {{- if .clientCaSecret }}
    client-auth: need
    {{- end }}
spring:
  ssl:
    bundle:
      pem:
        web:
          reload-on-update: true
          keystore:
            certificate: /etc/trace-etl/tls/web/tls.crt
            private-key: /etc/trace-etl/tls/web/tls.key
          {{- if .clientCaSecret }}
          truststore:
            certificate: /etc/trace-etl/tls/web/ca.crt
          {{- end }}
{{- if .clientCaSecret }}
# Kubelet has no client certificate, so probes use a separate port.
management:
  server:
    port: 8081
    ssl:
      enabled: false
{{- end }}
  {{- else if .clientCaSecret }}
  {{- fail "server.tls.clientCaSecret: requires server.tls.secret, because the port does not use TLS without it" }}
  {{- end }}
  {{- end }}
trace-etl:
  rocketmq:
    name-server: {{ include "trace-etl.nameServer" . | quote }}
    topic: {{ .Values.rocketmq.topics.spans }}
    {{- if .Values.rocketmq.access.serverSecret }}
    access-key-file: /etc/trace-etl/secrets/rocketmq/access-key
    secret-key-file: /etc/trace-etl/secrets/rocketmq/secret-key
    {{- end }}
    {{- if .Values.rocketmq.tls.enabled }}
    tls: true
    {{- if .Values.rocketmq.tls.caSecret }}
    tls-ca-file: /etc/trace-etl/tls/rocketmq/ca.crt
    {{- end }}
    {{- end }}
  journal:
    topic: {{ .Values.rocketmq.topics.windows }}
    {{- if .Values.server.journalKeysSecret }}
    keys-file: /etc/trace-etl/secrets/journal/keys
    {{- end }}
  {{- if .Values.edges.enabled }}
  edges:
    enabled: true
    topic: {{ .Values.rocketmq.topics.edges }}
    journal-topic: {{ .Values.rocketmq.topics.edgeWindows }}
  {{- end }}
  hotspots:
    topic: {{ .Values.rocketmq.topics.routing }}
    {{- if .Values.rocketmq.routingKeysSecret }}
    signing:
      private-key-file: /etc/trace-etl/secrets/routing/private-key.pem
      public-keys-file: /etc/trace-etl/secrets/routing/public-keys.pem
    {{- end }}
  {{- with include "trace-etl.elasticsearchUrls" . | fromJsonArray }}
  index:
    type: elasticsearch
    elasticsearch:
      urls:
        {{- toYaml . | nindent 8 }}
      {{- with $.Values.elasticsearch }}
      {{- if .apiKeySecret }}
      api-key-file: /etc/trace-etl/secrets/elasticsearch/api-key
      {{- else if .passwordSecret }}
      username: {{ required "elasticsearch.username: required with elasticsearch.passwordSecret" .username | quote }}
      password-file: /etc/trace-etl/secrets/elasticsearch/password
      {{- else if .username }}
      {{- fail "elasticsearch.passwordSecret: required with elasticsearch.username" }}
      {{- end }}
      {{- if .caSecret }}
      ca-file: /etc/trace-etl/tls/elasticsearch/ca.crt
      {{- end }}
      {{- end }}
  {{- else }}
  index:
    type: none
  {{- end }}
  {{- if .Values.server.tokenSecret }}
  web:
    token-file: /etc/trace-etl/secrets/web/token
    {{- if and .Values.server.usersSecret .Values.server.oidcSecret }}
    {{- fail "server.usersSecret: must be empty if server.oidcSecret is set; only one way to sign in is possible" }}
    {{- else if .Values.server.usersSecret }}
    sign-in: basic
    users-file: /etc/trace-etl/secrets/users/users
    {{- else if .Values.server.oidcSecret }}
    sign-in: oidc
    oidc:
      client-secret-file: /etc/trace-etl/secrets/oidc/client-secret
    {{- end }}
  {{- else if or .Values.server.usersSecret .Values.server.oidcSecret }}
  {{- fail "server.tokenSecret: required with server.usersSecret or server.oidcSecret, for programs such as Prometheus" }}
  {{- end }}
  {{- with .Values.server.rules }}
  {{- if not .revision }}
  {{- fail "server.rules.revision: required, a whole number of 1 or more; raise it with each change" }}
  {{- end }}
  {{- if eq "ozhera" (dig "trace-etl" "metrics" "profile" "" $.Values.server.config) }}
  {{- fail "server.rules: must be empty with profile ozhera; use server.ozheraRules" }}
  {{- end }}
  rules:
    file: /etc/trace-etl/rules/rules.yaml
  {{- end }}
  {{- if .Values.server.ozheraRules }}
  ozhera:
    rules-file: /etc/trace-etl/ozhera-rules/ozhera-rules.yaml
  {{- end }}
{{- end }}

{{- define "trace-etl.server.owned" -}}
server/port: server.port, the service's
server/ssl: server.tls.secret
trace-etl/rocketmq/name-server: rocketmq.nameServers
trace-etl/rocketmq/topic: rocketmq.topics.spans
trace-etl/rocketmq/access-key: rocketmq.access.serverSecret
trace-etl/rocketmq/access-key-file: rocketmq.access.serverSecret
trace-etl/rocketmq/secret-key: rocketmq.access.serverSecret
trace-etl/rocketmq/secret-key-file: rocketmq.access.serverSecret
trace-etl/rocketmq/tls: rocketmq.tls.enabled
trace-etl/rocketmq/tls-ca-file: rocketmq.tls.caSecret
trace-etl/journal/topic: rocketmq.topics.windows
trace-etl/journal/keys-file: server.journalKeysSecret
trace-etl/edges/enabled: edges.enabled
trace-etl/edges/topic: rocketmq.topics.edges
trace-etl/edges/journal-topic: rocketmq.topics.edgeWindows
trace-etl/hotspots/topic: rocketmq.topics.routing
trace-etl/hotspots/signing/private-key-file: rocketmq.routingKeysSecret
trace-etl/hotspots/signing/public-keys-file: rocketmq.routingKeysSecret
trace-etl/index/type: elasticsearch.urls
trace-etl/index/elasticsearch/urls: elasticsearch.urls
trace-etl/index/elasticsearch/username: elasticsearch.username
trace-etl/index/elasticsearch/password: elasticsearch.passwordSecret
trace-etl/index/elasticsearch/password-file: elasticsearch.passwordSecret
trace-etl/index/elasticsearch/api-key: elasticsearch.apiKeySecret
trace-etl/index/elasticsearch/api-key-file: elasticsearch.apiKeySecret
trace-etl/index/elasticsearch/ca-file: elasticsearch.caSecret
trace-etl/web/token: server.tokenSecret
trace-etl/web/token-file: server.tokenSecret
trace-etl/web/sign-in: server.usersSecret or server.oidcSecret
trace-etl/web/users-file: server.usersSecret
trace-etl/web/oidc/client-secret: server.oidcSecret
trace-etl/web/oidc/client-secret-file: server.oidcSecret
trace-etl/rules/file: server.rules
trace-etl/ozhera/rules-file: server.ozheraRules
{{- end }}

{{/* Regular expression of the names of span metrics. */}}
{{- define "trace-etl.server.spanMetrics" -}}
{{- if eq "true" (include "trace-etl.server.cumulativeOzhera" .) }}
{{- printf "%s_(?:hera|trace_statistics)_.*" (dig "trace-etl" "ozhera" "env" "staging" .Values.server.config) }}
{{- else }}
{{- $namespace := dig "trace-etl" "metrics" "namespace" "traces" .Values.server.config }}
{{- ternary "traces_.*" (printf "(?:traces|%s)_.*" $namespace) (hasPrefix "traces" $namespace) }}
{{- end }}
{{- end }}

{{/* Whether servers have cumulative pages under OzHera's names */}}
{{- define "trace-etl.server.cumulativeOzhera" -}}
{{- $config := .Values.server.config }}
{{- and (eq "ozhera" (dig "trace-etl" "metrics" "profile" "" $config)) (eq "cumulative" (dig "trace-etl" "ozhera" "temporality" "" $config)) }}
{{- end }}
