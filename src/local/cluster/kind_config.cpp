#include "local/cluster/kind_config.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include <fmt/format.h>

#include "local/cluster/placed_yaml.hpp"

namespace plim::local::cluster {
namespace {

constexpr std::string_view kApiVersion = "kind.x-k8s.io/v1alpha4";
constexpr std::size_t kMostNodes = 100;
constexpr int kHighestV = 100;

struct Mapping {
  std::string inside, outside;
  std::string warning;  // given if no path uses the mapping
  bool used = false;
};

// Maps the path through the longest prefix that matches; unchanged if none does.
bool map_path(std::string& path, std::vector<Mapping>& mappings) {
  Mapping* best = nullptr;
  for (Mapping& one : mappings) {
    const bool fits = path == one.inside || path.starts_with(one.inside + "/");
    if (fits && (best == nullptr || one.inside.size() > best->inside.size())) best = &one;
  }
  if (best == nullptr) return false;
  best->used = true;
  path = best->outside + path.substr(best->inside.size());
  return true;
}

class KindReader {
 public:
  Result<KindConfig> read(const PlacedYaml& file) {
    const json::value& value = file.value();
    if (!value.is_object() || text_at(value, {"kind"}) != "Cluster" ||
        text_at(value, {"apiVersion"}) != kApiVersion)
      return file.error(value.is_object() && value.get_object().contains("apiVersion") &&
                                text_at(value, {"apiVersion"}) != kApiVersion
                            ? "/apiVersion"
                        : value.is_object() && value.get_object().contains("kind") ? "/kind"
                                                                                   : "",
                        fmt::format("expected a Cluster of {}", kApiVersion));
    warn_about_others(file, "", {"kind", "apiVersion", "name", "nodes", "kubeadmConfigPatches"});
    if (find(value, {"name"}) != nullptr) {
      PLIM_TRY(out_.name, file.text("/name"));
    }
    PLIM_CHECK(read_patches(file, "/kubeadmConfigPatches"));
    PLIM_CHECK(read_nodes(file));
    settle_paths();
    return std::move(out_);
  }

 private:
  void warn_about_others(const PlacedYaml& source, std::string_view pointer,
                         std::initializer_list<std::string_view> known) {
    for (const auto& [key, value] : source.find(pointer)->get_object())
      if (std::ranges::find(known, std::string_view(key)) == known.end())
        out_.warnings.push_back(source.warning(
            below(pointer, key), fmt::format("{} has no effect here", std::string_view(key))));
  }

  Result<void> read_nodes(const PlacedYaml& file) {
    PLIM_TRY(const std::size_t count, file.length("/nodes"));
    if (count > kMostNodes)
      return file.error("/nodes", fmt::format("nodes: at most {} are possible here", kMostNodes));
    for (std::size_t i = 0; i < count; ++i) PLIM_CHECK(read_node(file, below("/nodes", i)));
    if (count == 0) out_.nodes.push_back({.control_plane = true});
    if (std::ranges::none_of(out_.nodes, &KindConfig::Node::control_plane))
      return file.error("/nodes", "nodes: one of them has to have the role control-plane");
    return {};
  }

  Result<void> read_node(const PlacedYaml& file, const std::string& pointer) {
    PLIM_CHECK(file.want_map(pointer, "node"));
    warn_about_others(file, pointer, {"role", "labels", "extraMounts", "kubeadmConfigPatches"});
    KindConfig::Node node;
    if (file.find(below(pointer, "role")) == nullptr) {
      node.control_plane = true;  // kind's default
    } else {
      PLIM_TRY(const std::string role, file.text(below(pointer, "role")));
      if (role != "control-plane" && role != "worker")
        return file.error(
            below(pointer, "role"),
            fmt::format("role: expected control-plane or worker, not {}", quote(role)));
      node.control_plane = role == "control-plane";
    }
    if (const std::string labels = below(pointer, "labels"); file.find(labels) != nullptr) {
      PLIM_CHECK(file.want_map(labels, "labels"));
      for (const auto& [key, value] : file.find(labels)->get_object()) {
        PLIM_TRY(std::string label, file.text(below(labels, key)));
        node.labels.emplace_back(key, std::move(label));
      }
    }
    PLIM_CHECK(read_mounts(file, below(pointer, "extraMounts"), node.control_plane));
    const std::string patches = below(pointer, "kubeadmConfigPatches");
    if (node.control_plane) {
      PLIM_CHECK(read_patches(file, patches));
    } else if (file.find(patches) != nullptr) {
      out_.warnings.push_back(
          file.warning(patches, "kubeadmConfigPatches of a worker has no effect here"));
    }
    out_.nodes.push_back(std::move(node));
    return {};
  }

  // Reads a list of maps, each from a hostPath to the path in the field `inside`.
  Result<std::vector<Mapping>> read_mappings(const PlacedYaml& file, const std::string& pointer,
                                             std::string_view inside,
                                             std::initializer_list<std::string_view> known) {
    std::vector<Mapping> out;
    PLIM_TRY(const std::size_t count, file.length(pointer));
    for (std::size_t i = 0; i < count; ++i) {
      const std::string one = below(pointer, i);
      PLIM_CHECK(file.want_map(one, pointer.substr(pointer.rfind('/') + 1)));
      Mapping mapping;
      PLIM_TRY(mapping.outside, file.text(below(one, "hostPath")));
      PLIM_TRY(mapping.inside, file.text(below(one, inside)));
      warn_about_others(file, one, known);
      mapping.warning = file.warning(
          below(one, inside),
          fmt::format("{} has no effect here: nothing reads it", quote(mapping.inside)));
      out.push_back(std::move(mapping));
    }
    return out;
  }

  Result<void> read_mounts(const PlacedYaml& file, const std::string& pointer, bool control_plane) {
    PLIM_TRY(const auto mounts, read_mappings(file, pointer, "containerPath",
                                              {"hostPath", "containerPath", "readOnly"}));
    for (const Mapping& one : mounts)
      if (control_plane)
        mounts_.push_back(one);
      else
        out_.warnings.push_back(one.warning);
    return {};
  }

  // Each patch is a YAML document, as text.
  Result<void> read_patches(const PlacedYaml& file, const std::string& pointer) {
    PLIM_TRY(const std::size_t count, file.length(pointer));
    for (std::size_t i = 0; i < count; ++i) {
      const std::string one = below(pointer, i);
      PLIM_TRY(const PlacedYaml patch, file.inside(one));
      if (!patch.value().is_object()) return file.error(one, "expected a patch: a map");
      const std::string_view kind = text_at(patch.value(), {"kind"});
      if (kind == "ClusterConfiguration") {
        PLIM_CHECK(read_patch(patch));
      } else {
        out_.warnings.push_back(
            file.warning(one, fmt::format("a patch of {} has no effect here",
                                          kind.empty() ? "an unknown kind" : kind)));
      }
    }
    return {};
  }

  Result<void> read_patch(const PlacedYaml& patch) {
    warn_about_others(patch, "", {"kind", "apiVersion", "metadata", "scheduler"});
    if (patch.find("/scheduler") == nullptr) return {};
    PLIM_CHECK(patch.want_map("/scheduler", "scheduler"));
    warn_about_others(patch, "/scheduler", {"extraArgs", "extraVolumes"});
    PLIM_CHECK(read_arguments(patch, "/scheduler/extraArgs"));
    return read_volumes(patch, "/scheduler/extraVolumes");
  }

  // kubeadm has a map up to v1beta3, a list of name and value since.
  Result<void> read_arguments(const PlacedYaml& patch, const std::string& pointer) {
    const json::value* arguments = patch.find(pointer);
    if (arguments == nullptr || arguments->is_null()) return {};
    if (arguments->is_object()) {
      for (const auto& [key, value] : arguments->get_object())
        PLIM_CHECK(read_argument(patch, std::string(key), below(pointer, key)));
      return {};
    }
    if (!arguments->is_array())
      return patch.error(pointer, "extraArgs: expected a map, or a list of name and value");
    for (std::size_t i = 0; i < arguments->get_array().size(); ++i) {
      const std::string one = below(pointer, i);
      PLIM_CHECK(patch.want_map(one, "extraArgs"));
      PLIM_TRY(const std::string name, patch.text(below(one, "name")));
      PLIM_CHECK(read_argument(patch, name, below(one, "value")));
    }
    return {};
  }

  Result<void> read_argument(const PlacedYaml& patch, const std::string& name,
                             const std::string& pointer) {
    const json::value* value = patch.find(pointer);
    if (name == "config") {
      if (value == nullptr || !value->is_string() || !value->get_string().starts_with('/'))
        return patch.error(pointer, "config: expected a path that begins with /");
      out_.scheduler.config = std::string(value->get_string());
      out_.scheduler.config_at = patch.at(pointer);
      return {};
    }
    if (name != "v") {
      out_.warnings.push_back(patch.warning(
          pointer, fmt::format("the scheduler's argument {} has no effect here", quote(name))));
      return {};
    }
    const std::string digits = value == nullptr     ? std::string()
                               : value->is_string() ? std::string(value->get_string())
                                                    : to_json(*value);
    const auto number = parse_int<int>(digits);
    if (!number || *number < 0 || *number > kHighestV)
      return patch.error(pointer, fmt::format("v: expected a number from 0 to {}", kHighestV));
    out_.scheduler.v = *number;
    return {};
  }

  Result<void> read_volumes(const PlacedYaml& patch, const std::string& pointer) {
    PLIM_TRY(auto volumes,
             read_mappings(patch, pointer, "mountPath",
                           {"name", "hostPath", "mountPath", "readOnly", "pathType"}));
    std::ranges::move(volumes, std::back_inserter(volumes_));
    return {};
  }

  // Translates the path in the pod to one in the node, and that to one on this machine.
  void settle_paths() {
    if (!out_.scheduler.config.empty()) {
      std::string path = out_.scheduler.config;
      map_path(path, volumes_);
      const bool mounted = map_path(path, mounts_);
      (mounted ? out_.scheduler.config_file : out_.scheduler.config_on_node) = std::move(path);
    }
    for (const auto* list : {&volumes_, &mounts_})
      for (const Mapping& one : *list)
        if (!one.used) out_.warnings.push_back(one.warning);
  }

  KindConfig out_;
  std::vector<Mapping> volumes_, mounts_;
};

}  // namespace

Result<KindConfig> read_kind_config(std::string_view text, std::string_view source) {
  PLIM_TRY(const PlacedYaml file, PlacedYaml::parse(text, source));
  return KindReader().read(file);
}

std::vector<std::string> kind_node_names(const KindConfig& config, std::string_view cluster) {
  std::vector<std::string> out;
  int control_planes = 0, workers = 0;
  for (const KindConfig::Node& node : config.nodes) {
    const int number = node.control_plane ? ++control_planes : ++workers;
    out.push_back(fmt::format("{}-{}{}", cluster, node.control_plane ? "control-plane" : "worker",
                              number == 1 ? std::string() : std::to_string(number)));
  }
  return out;
}

}  // namespace plim::local::cluster
