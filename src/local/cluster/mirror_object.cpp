#include "local/cluster/mirror_object.hpp"

#include "base/rfc3339.hpp"
#include "net/x509.hpp"

namespace plim::local::cluster {

std::string hash_of(const MirrorPod& pod) {
  std::string text = pod.name + '\0' + pod.node + '\0' + pod.container;
  for (const std::string& word : pod.command) text += '\0' + word;
  return net::sha256_hex(text).substr(0, 32);
}

json::value make_mirror_pod(const MirrorPod& pod, std::string_view image, std::string_view node_uid,
                            WallTime seen) {
  const std::string hash = hash_of(pod);
  json::object labels{{"component", pod.container},
                      {"tier", pod.tier},
                      {"app.kubernetes.io/managed-by", "plimsoll-up"}};
  json::object annotations{{"kubernetes.io/config.hash", hash},
                           {kMirrorAnnotation, hash},
                           {"kubernetes.io/config.seen", format_rfc3339_nano(seen)},
                           {"kubernetes.io/config.source", "file"}};
  json::object owner{{"apiVersion", "v1"},
                     {"kind", "Node"},
                     {"name", pod.node},
                     {"uid", node_uid},
                     {"controller", true}};
  json::array command;
  for (const std::string& word : pod.command) command.emplace_back(word);
  json::object container{{"name", pod.container},
                         {"image", image},
                         {"imagePullPolicy", "IfNotPresent"},
                         {"command", std::move(command)}};
  json::object tolerates{{"operator", "Exists"}, {"effect", "NoExecute"}};
  json::object spec{{"nodeName", pod.node},
                    {"hostNetwork", true},
                    {"priorityClassName", "system-node-critical"},
                    {"restartPolicy", "Always"},
                    {"tolerations", json::array{std::move(tolerates)}},
                    {"containers", json::array{std::move(container)}}};
  return json::object{
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata", json::object{{"name", pod.name},
                                {"namespace", kMirrorNamespace},
                                {"labels", std::move(labels)},
                                {"annotations", std::move(annotations)},
                                {"ownerReferences", json::array{std::move(owner)}}}},
      {"spec", std::move(spec)}};
}

}  // namespace plim::local::cluster
