{{- define "drayman-scheduler.fullname" -}}
{{- $name := .Release.Name -}}
{{- if not (contains .Chart.Name $name) -}}
{{- $name = printf "%s-%s" $name .Chart.Name -}}
{{- end -}}
{{- $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "drayman-scheduler.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "drayman-scheduler.labels" -}}
{{ include "drayman-scheduler.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: scheduler
app.kubernetes.io/part-of: drayman
{{- end -}}

{{- define "drayman-scheduler.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* "true" where a leader is elected, else nothing. */ -}}
{{- define "drayman-scheduler.elects" -}}
{{- $chosen := .Values.leaderElection.enabled -}}
{{- if kindIs "invalid" $chosen -}}
{{- $chosen = gt (int .Values.replicaCount) 1 -}}
{{- end -}}
{{- if $chosen -}}true{{- end -}}
{{- end -}}

{{- define "drayman-scheduler.config" -}}
{{- $election := dict "leaderElect" false -}}
{{- if include "drayman-scheduler.elects" . -}}
{{- $name := include "drayman-scheduler.fullname" . -}}
{{- $election = dict "leaderElect" true "resourceLock" "leases" "resourceName" $name "resourceNamespace" .Release.Namespace -}}
{{- end -}}
{{- $own := dict "name" "Drayman" "args" (dict "compatibility" .Values.compatibility) -}}
{{- $profile := dict "schedulerName" .Values.schedulerName "pluginConfig" (list $own) -}}
{{- $config := dict "apiVersion" "kubescheduler.config.k8s.io/v1" "kind" "KubeSchedulerConfiguration" -}}
{{- $_ := set $config "leaderElection" $election -}}
{{- $_ := set $config "profiles" (list $profile) -}}
{{- mergeOverwrite $config (deepCopy .Values.config) | toRawJson -}}
{{- end -}}
