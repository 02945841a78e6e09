#include "local/cluster/kind_config.hpp"

#include <algorithm>
#include <initializer_list>

#include <fmt/format.h>

#include "base/json_pointer.hpp"
#include "base/yaml.hpp"

namespace plim::local {
namespace {

constexpr std::string_view kApiVersion = "kind.x-k8s.io/v1alpha4";
constexpr std::size_t kMostNodes = 100;
constexpr int kHighestV = 100;

std::string below(std::string_view pointer, std::string_view key) {
  std::string out(pointer);
  append_step(out, key);
  return out;
}

std::string below(std::string_view pointer, std::size_t place) {
  return below(pointer, std::to_string(place));
}

// Where the first line of a block scalar stands in the text around it.
struct BlockPlace {
  int line = 0;  // 0: it is no block, so lines inside of it are none of the text
  int indent = 0;
};

BlockPlace place_of_block(std::string_view text, TextPosition scalar) {
  const auto lines = split(text, '\n');
  const auto line_at = [&](int number) {
    const auto place = static_cast<std::size_t>(number - 1);
    return number >= 1 && place < lines.size() ? lines[place] : std::string_view();
  };
  const auto opens_block = [&](int number) {
    std::string_view line = trim(cut(line_at(number), '#').first);
    while (line.ends_with('-') || line.ends_with('+')) line.remove_suffix(1);
    return line.ends_with('|');
  };
  // Its position is that of the sign, or of what follows it.
  BlockPlace out;
  if (opens_block(scalar.line))
    out.line = scalar.line + 1;
  else if (opens_block(scalar.line - 1))
    out.line = scalar.line;
  if (out.line == 0) return out;
  for (int number = out.line; number <= static_cast<int>(lines.size()); ++number) {
    const std::string_view line = line_at(number);
    const std::size_t first = line.find_first_not_of(' ');
    if (first == line.npos) continue;
    out.indent = static_cast<int>(first);
    break;
  }
  return out;
}

// A document, or one that stands inside of another: positions are those in the file.
class Source {
 public:
  Source(const YamlDocument& document, std::string_view name) : document_(document), name_(name) {}

  Source(const YamlDocument& document, std::string_view name, TextPosition scalar, BlockPlace block)
      : document_(document), name_(name), scalar_(scalar), block_(block), inside_(true) {}

  const json::value& value() const { return document_.value(); }

  TextPosition at(std::string_view pointer) const { return outer(document_.position(pointer)); }

  Error error(std::string_view pointer, std::string_view message) const {
    return fail(Code::invalid, located(name_, at(pointer), message));
  }

  std::string warning(std::string_view pointer, std::string_view message) const {
    return located(name_, outer(document_.key_position(pointer)), message);
  }

 private:
  TextPosition outer(TextPosition inner) const {
    if (!inside_) return inner;
    if (block_.line == 0) return scalar_;
    return {.line = block_.line + inner.line - 1, .column = block_.indent + inner.column};
  }

  const YamlDocument& document_;
  std::string name_;
  TextPosition scalar_ = {};
  BlockPlace block_ = {};
  bool inside_ = false;
};

struct Mapping {
  std::string inside, outside;
  std::string warning;  // for one that nothing goes through
  bool used = false;
};

// Through the longest that fits; unchanged if none does.
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
  KindReader(std::string_view text, std::string_view source) : text_(text), name_(source) {}

  Result<KindConfig> read(const YamlDocument& document) {
    const Source file(document, name_);
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
      PLIM_TRY(out_.name, text(file, "/name"));
    }
    PLIM_CHECK(read_patches(file, "/kubeadmConfigPatches"));
    PLIM_CHECK(read_nodes(file));
    settle_paths();
    return std::move(out_);
  }

 private:
  static const json::value* at(const Source& source, std::string_view pointer) {
    boost::system::error_code problem;
    return source.value().find_pointer(pointer, problem);
  }

  void warn_about_others(const Source& source, std::string_view pointer,
                         std::initializer_list<std::string_view> known) {
    for (const auto& [key, value] : at(source, pointer)->get_object())
      if (std::ranges::find(known, std::string_view(key)) == known.end())
        out_.warnings.push_back(source.warning(
            below(pointer, key), fmt::format("{} has no effect here", std::string_view(key))));
  }

  static Result<std::string> text(const Source& source, const std::string& pointer) {
    const json::value* value = at(source, pointer);
    if (value == nullptr || !value->is_string())
      return source.error(pointer, fmt::format("{}: expected a string", last_step(pointer)));
    return std::string(value->get_string());
  }

  static std::string_view last_step(std::string_view pointer) {
    return pointer.substr(pointer.rfind('/') + 1);
  }

  // The number of elements; nothing and null have none.
  static Result<std::size_t> length(const Source& source, const std::string& pointer) {
    const json::value* list = at(source, pointer);
    if (list == nullptr || list->is_null()) return std::size_t{0};
    if (!list->is_array())
      return source.error(pointer, fmt::format("{}: expected a list", last_step(pointer)));
    return list->get_array().size();
  }

  static Result<void> want_map(const Source& source, const std::string& pointer,
                               std::string_view what) {
    const json::value* value = at(source, pointer);
    if (value != nullptr && value->is_object()) return {};
    return source.error(pointer, fmt::format("{}: expected a map", what));
  }

  Result<void> read_nodes(const Source& file) {
    PLIM_TRY(const std::size_t count, length(file, "/nodes"));
    if (count > kMostNodes)
      return file.error("/nodes", fmt::format("nodes: at most {} are possible here", kMostNodes));
    for (std::size_t i = 0; i < count; ++i) PLIM_CHECK(read_node(file, below("/nodes", i)));
    if (count == 0) out_.nodes.push_back({.control_plane = true});
    if (std::ranges::none_of(out_.nodes, &KindConfig::Node::control_plane))
      return file.error("/nodes", "nodes: one of them has to have the role control-plane");
    return {};
  }

  Result<void> read_node(const Source& file, const std::string& pointer) {
    PLIM_CHECK(want_map(file, pointer, "node"));
    warn_about_others(file, pointer, {"role", "labels", "extraMounts", "kubeadmConfigPatches"});
    KindConfig::Node node;
    if (at(file, below(pointer, "role")) == nullptr) {
      node.control_plane = true;  // kind's default
    } else {
      PLIM_TRY(const std::string role, text(file, below(pointer, "role")));
      if (role != "control-plane" && role != "worker")
        return file.error(
            below(pointer, "role"),
            fmt::format("role: expected control-plane or worker, not {}", quote(role)));
      node.control_plane = role == "control-plane";
    }
    if (const std::string labels = below(pointer, "labels"); at(file, labels) != nullptr) {
      PLIM_CHECK(want_map(file, labels, "labels"));
      for (const auto& [key, value] : at(file, labels)->get_object()) {
        PLIM_TRY(std::string label, text(file, below(labels, key)));
        node.labels.emplace_back(key, std::move(label));
      }
    }
    PLIM_CHECK(read_mounts(file, below(pointer, "extraMounts"), node.control_plane));
    const std::string patches = below(pointer, "kubeadmConfigPatches");
    if (node.control_plane) {
      PLIM_CHECK(read_patches(file, patches));
    } else if (at(file, patches) != nullptr) {
      out_.warnings.push_back(
          file.warning(patches, "kubeadmConfigPatches of a worker has no effect here"));
    }
    out_.nodes.push_back(std::move(node));
    return {};
  }

  Result<void> read_mounts(const Source& file, const std::string& pointer, bool control_plane) {
    PLIM_TRY(const std::size_t count, length(file, pointer));
    for (std::size_t i = 0; i < count; ++i) {
      const std::string one = below(pointer, i);
      PLIM_CHECK(want_map(file, one, "extraMounts"));
      Mapping mapping;
      PLIM_TRY(mapping.outside, text(file, below(one, "hostPath")));
      PLIM_TRY(mapping.inside, text(file, below(one, "containerPath")));
      warn_about_others(file, one, {"hostPath", "containerPath", "readOnly"});
      mapping.warning = file.warning(
          below(one, "containerPath"),
          fmt::format("{} has no effect here: nothing reads it", quote(mapping.inside)));
      if (control_plane)
        mounts_.push_back(std::move(mapping));
      else
        out_.warnings.push_back(mapping.warning);
    }
    return {};
  }

  // Each patch is a document of its own, as text.
  Result<void> read_patches(const Source& file, const std::string& pointer) {
    PLIM_TRY(const std::size_t count, length(file, pointer));
    for (std::size_t i = 0; i < count; ++i) {
      const std::string one = below(pointer, i);
      PLIM_TRY(const std::string patch, text(file, one));
      const BlockPlace block = place_of_block(text_, file.at(one));
      auto document = parse_yaml_document(patch, name_);
      if (!document) return wrong_patch(file, one, patch, block);
      const Source inside(*document, name_, file.at(one), block);
      if (!inside.value().is_object()) return file.error(one, "expected a patch: a map");
      PLIM_CHECK(read_patch(file, one, inside));
    }
    return {};
  }

  // Parsed once more below as many lines as are above it in the file, so that the message counts
  // from there.
  Error wrong_patch(const Source& file, const std::string& pointer, const std::string& patch,
                    BlockPlace block) const {
    if (block.line > 0) {
      std::string moved(static_cast<std::size_t>(block.line - 1), '\n');
      for (std::string_view line : split(patch, '\n'))
        moved += line.empty() ? "\n"
                              : std::string(static_cast<std::size_t>(block.indent), ' ') +
                                    std::string(line) + "\n";
      if (auto again = parse_yaml_document(moved, name_); !again) return again.error();
    }
    return file.error(pointer,
                      "the patch is no YAML: " + parse_yaml_document(patch).error().message);
  }

  Result<void> read_patch(const Source& file, const std::string& pointer, const Source& patch) {
    const std::string_view kind = text_at(patch.value(), {"kind"});
    if (kind != "ClusterConfiguration") {
      out_.warnings.push_back(located(
          name_, file.at(pointer),
          fmt::format("a patch of {} has no effect here", kind.empty() ? "no kind" : kind)));
      return {};
    }
    warn_about_others(patch, "", {"kind", "apiVersion", "metadata", "scheduler"});
    if (at(patch, "/scheduler") == nullptr) return {};
    PLIM_CHECK(want_map(patch, "/scheduler", "scheduler"));
    warn_about_others(patch, "/scheduler", {"extraArgs", "extraVolumes"});
    PLIM_CHECK(read_arguments(patch, "/scheduler/extraArgs"));
    return read_volumes(patch, "/scheduler/extraVolumes");
  }

  // A map up to kubeadm's v1beta3, a list of name and value since.
  Result<void> read_arguments(const Source& patch, const std::string& pointer) {
    const json::value* arguments = at(patch, pointer);
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
      PLIM_CHECK(want_map(patch, one, "extraArgs"));
      PLIM_TRY(const std::string name, text(patch, below(one, "name")));
      PLIM_CHECK(read_argument(patch, name, below(one, "value")));
    }
    return {};
  }

  Result<void> read_argument(const Source& patch, const std::string& name,
                             const std::string& pointer) {
    const json::value* value = at(patch, pointer);
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

  Result<void> read_volumes(const Source& patch, const std::string& pointer) {
    PLIM_TRY(const std::size_t count, length(patch, pointer));
    for (std::size_t i = 0; i < count; ++i) {
      const std::string one = below(pointer, i);
      PLIM_CHECK(want_map(patch, one, "extraVolumes"));
      Mapping mapping;
      PLIM_TRY(mapping.outside, text(patch, below(one, "hostPath")));
      PLIM_TRY(mapping.inside, text(patch, below(one, "mountPath")));
      warn_about_others(patch, one, {"name", "hostPath", "mountPath", "readOnly", "pathType"});
      mapping.warning = patch.warning(
          below(one, "mountPath"),
          fmt::format("{} has no effect here: nothing reads it", quote(mapping.inside)));
      volumes_.push_back(std::move(mapping));
    }
    return {};
  }

  // From the pod to the node, and from there to this machine.
  void settle_paths() {
    if (!out_.scheduler.config.empty()) {
      std::string path = out_.scheduler.config;
      map_path(path, volumes_);
      if (map_path(path, mounts_)) out_.scheduler.config_file = std::move(path);
    }
    for (const auto* list : {&volumes_, &mounts_})
      for (const Mapping& one : *list)
        if (!one.used) out_.warnings.push_back(one.warning);
  }

  std::string_view text_;
  std::string name_;
  KindConfig out_;
  std::vector<Mapping> volumes_, mounts_;
};

}  // namespace

Result<KindConfig> read_kind_config(std::string_view text, std::string_view source) {
  PLIM_TRY(const YamlDocument document, parse_yaml_document(text, source));
  return KindReader(text, source).read(document);
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

}  // namespace plim::local
