// The least that any Go program in the ancestor's place does, with the libraries it uses: read a request, decode it into
// Kubernetes' types, answer. What it costs is a lower bound of what the ancestor costs on the machine it runs on.
//
// usage: floor webhook CERTIFICATE KEY | plugin SOCKET | starter PROGRAM ARGUMENT…
package main

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	"google.golang.org/grpc"
	admission "k8s.io/api/admission/v1"
	core "k8s.io/api/core/v1"
	devices "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

func review(out http.ResponseWriter, in *http.Request) {
	body, err := io.ReadAll(in.Body)
	var asked admission.AdmissionReview
	if err == nil {
		err = json.Unmarshal(body, &asked)
	}
	var pod core.Pod
	if err == nil {
		err = json.Unmarshal(asked.Request.Object.Raw, &pod)
	}
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	kind := admission.PatchTypeJSONPatch
	asked.Response = &admission.AdmissionResponse{UID: asked.Request.UID, Allowed: true, Patch: []byte("[]"), PatchType: &kind}
	asked.Request = nil
	answer, err := json.Marshal(asked)
	if err != nil {
		http.Error(out, err.Error(), http.StatusInternalServerError)
		return
	}
	out.Header().Set("Content-Type", "application/json")
	out.Write(answer)
}

type plugin struct {
	devices.UnimplementedDevicePluginServer
}

func (plugin) Allocate(_ context.Context, asked *devices.AllocateRequest) (*devices.AllocateResponse, error) {
	var out devices.AllocateResponse
	for _, one := range asked.ContainerRequests {
		given := map[string]string{"EXCLUSIVE_CPUS": strings.Join(one.DevicesIds, ",")}
		out.ContainerResponses = append(out.ContainerResponses, &devices.ContainerAllocateResponse{Envs: given})
	}
	return &out, nil
}

func main() {
	words := append(os.Args[1:], "", "", "")
	switch words[0] {
	case "webhook":
		socket := listen("tcp", "127.0.0.1:0")
		log.Print("listening address=", socket.Addr())
		http.HandleFunc("/mutating-pods", review)
		log.Fatal(http.ServeTLS(socket, nil, words[1], words[2]))
	case "plugin":
		server := grpc.NewServer()
		devices.RegisterDevicePluginServer(server, plugin{})
		log.Fatal(server.Serve(listen("unix", words[1])))
	case "starter":
		log.Fatal(syscall.Exec(words[1], os.Args[2:], os.Environ()))
	}
	log.Fatal("usage: floor webhook CERTIFICATE KEY | plugin SOCKET | starter PROGRAM ARGUMENT…")
}

func listen(network, address string) net.Listener {
	socket, err := net.Listen(network, address)
	if err != nil {
		log.Fatal(err)
	}
	return socket
}
