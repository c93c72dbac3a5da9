package main

import (
	"fmt"
	"strings"
)

// kubernetesManifest returns a service that gives each pod a name, a budget that keeps a majority, and the pods.
func kubernetesManifest(m manifest) string {
	var command strings.Builder
	if m.Binary != "" {
		fmt.Fprintf(&command, "          command: [%s]\n", quoted(m.Binary))
	}
	command.WriteString("          args:\n")
	address := fmt.Sprintf("$(POD_NAME).%s.$(POD_NAMESPACE).svc:%d", m.Name, m.Port)
	for _, arg := range m.arguments("$(POD_NAME)", address, "$(", "$$(") {
		fmt.Fprintf(&command, "            - %s\n", quoted(arg))
	}
	return fmt.Sprintf(`# Drivers of %[1]s: %[2]d, the pods %[1]s-0 to %[1]s-%[3]d. The secret %[1]s-tls has ca.pem, cert.pem and key.pem; the certificate has
# the names of all pods, and is for servers and clients. The folder of %[1]s-0 is made once, in a pod that mounts the claim data-%[1]s-0:
#   leat cluster init %[4]s -name %[1]s-0
# When all run, the others are taken in with leat cluster join.
apiVersion: v1
kind: Service
metadata:
  name: %[1]s
  labels: {app.kubernetes.io/name: %[1]s}
spec:
  clusterIP: None
  # Drivers find each other before they are ready.
  publishNotReadyAddresses: true
  selector: {app.kubernetes.io/name: %[1]s}
  ports:
    - {name: driver, port: %[5]d}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: %[1]s
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {app.kubernetes.io/name: %[1]s}
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: %[1]s
  labels: {app.kubernetes.io/name: %[1]s}
spec:
  serviceName: %[1]s
  replicas: %[2]d
  # A majority must start together; an update still goes from pod to pod.
  podManagementPolicy: Parallel
  selector:
    matchLabels: {app.kubernetes.io/name: %[1]s}
  template:
    metadata:
      labels: {app.kubernetes.io/name: %[1]s}
    spec:
      # It lets another driver lead before it ends.
      terminationGracePeriodSeconds: 60
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: kubernetes.io/hostname
              labelSelector:
                matchLabels: {app.kubernetes.io/name: %[1]s}
      securityContext:
        runAsNonRoot: true
        runAsUser: 65532
        fsGroup: 65532
      containers:
        - name: driver
          image: %[6]s
%[7]s          env:
            - name: POD_NAME
              valueFrom: {fieldRef: {fieldPath: metadata.name}}
            - name: POD_NAMESPACE
              valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
          ports:
            - {name: driver, containerPort: %[5]d}
          readinessProbe:
            tcpSocket: {port: driver}
            periodSeconds: 5
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: {drop: [ALL]}
          volumeMounts:
            - {name: data, mountPath: %[4]s}
            - {name: tls, mountPath: %[8]s, readOnly: true}
            - {name: tmp, mountPath: /tmp}
      volumes:
        - name: tls
          secret: {secretName: %[1]s-tls}
        - name: tmp
          emptyDir: {}
  volumeClaimTemplates:
    - metadata:
        name: data
      spec:
        accessModes: [ReadWriteOnce]
        resources:
          requests: {storage: %[9]s}
`, m.Name, m.Nodes, m.Nodes-1, m.Data, m.Port, quoted(m.Image), command.String(), m.TLS, m.Size)
}
